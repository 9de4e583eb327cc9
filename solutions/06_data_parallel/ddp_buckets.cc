#include "parallel/ddp_buckets.h"

namespace rankbox {

namespace {

/// All-reduces the gradients as one tensor, and empties the bucket.
void send(Comm& dist, std::vector<Parameter*>& bucket) {
  Tensor flat(count_elements(bucket));
  std::int64_t end = 0;
  const auto place_of = [&](const Parameter& parameter) {
    const std::int64_t begin = end;
    end += parameter.value.size();
    return Slice(flat).sub(begin, end);
  };
  for (Parameter* parameter : bucket) copy(place_of(*parameter), gradient_of(*parameter));
  dist.all_reduce(flat, ReduceOp::AVG);
  end = 0;
  for (Parameter* parameter : bucket) copy(parameter->gradient, place_of(*parameter));
  bucket.clear();
}

}  // namespace

void ddp_buckets(Comm& dist, const std::vector<Parameter*>& parameters, std::int64_t bucket_bytes) {
  std::vector<Parameter*> bucket;
  std::int64_t bytes = 0;
  for (auto next = parameters.rbegin(); next != parameters.rend(); ++next) {
    const std::int64_t more = (*next)->value.bytes();
    if (!bucket.empty() && bytes + more > bucket_bytes) {
      send(dist, bucket);
      bytes = 0;
    }
    bucket.push_back(*next);
    bytes += more;
  }
  if (!bucket.empty()) send(dist, bucket);
}

}  // namespace rankbox
