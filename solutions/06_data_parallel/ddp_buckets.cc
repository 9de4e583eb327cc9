#include "parallel/ddp_buckets.h"

namespace rankbox {

namespace {

/// Calls handle(gradient, its place in the flat tensor) for each gradient.
template <class Handle>
void for_each_gradient(const std::vector<Parameter*>& bucket, Tensor& flat, Handle handle) {
  std::int64_t begin = 0;
  for (Parameter* parameter : bucket) {
    const std::int64_t end = begin + parameter->value.size();
    handle(gradient_of(*parameter), Slice(flat).sub(begin, end));
    begin = end;
  }
}

/// All-reduces the gradients as one tensor.
void send(Comm& dist, const std::vector<Parameter*>& bucket) {
  Tensor flat(count_elements(bucket));
  for_each_gradient(bucket, flat, [](Slice gradient, Slice place) { copy(place, gradient); });
  dist.all_reduce(flat, ReduceOp::AVG);
  for_each_gradient(bucket, flat, [](Slice gradient, Slice place) { copy(gradient, place); });
}

}  // namespace

void ddp_buckets(Comm& dist, const std::vector<Parameter*>& parameters, std::int64_t bucket_bytes) {
  std::vector<Parameter*> bucket;
  std::int64_t bytes = 0;
  for (auto next = parameters.rbegin(); next != parameters.rend(); ++next) {
    const std::int64_t more = (*next)->value.bytes();
    if (!bucket.empty() && bytes + more > bucket_bytes) {
      send(dist, bucket);
      bucket.clear();
      bytes = 0;
    }
    bucket.push_back(*next);
    bytes += more;
  }
  if (!bucket.empty()) send(dist, bucket);
}

}  // namespace rankbox
