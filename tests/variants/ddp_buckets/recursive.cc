// A call sends the last bucket, and calls itself for those before.
#include <cstdint>
#include <span>
#include <vector>

#include "parallel/ddp_buckets.h"

namespace rankbox {

namespace {

void send_from(Comm& dist, std::span<Parameter* const> parameters, std::int64_t bytes) {
  if (parameters.empty()) return;
  std::size_t first = parameters.size() - 1;
  std::int64_t room = bytes - parameters[first]->value.bytes();
  while (first > 0 && parameters[first - 1]->value.bytes() <= room)
    room -= parameters[--first]->value.bytes();

  const std::span<Parameter* const> bucket = parameters.subspan(first);
  std::vector<float> packed;
  for (Parameter* parameter : bucket) {
    const std::vector<float> gradient = to_host(gradient_of(*parameter));
    packed.insert(packed.end(), gradient.begin(), gradient.end());
  }
  Tensor flat = from_host(packed);
  dist.all_reduce(flat, ReduceOp::AVG);
  std::int64_t begin = 0;
  for (Parameter* parameter : bucket) {
    const std::int64_t end = begin + parameter->value.size();
    copy(parameter->gradient, Slice(flat).sub(begin, end));
    begin = end;
  }
  send_from(dist, parameters.first(first), bytes);
}

}  // namespace

void ddp_buckets(Comm& dist, const std::vector<Parameter*>& parameters, std::int64_t bucket_bytes) {
  send_from(dist, parameters, bucket_bytes);
}

}  // namespace rankbox
