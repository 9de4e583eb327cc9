#include "parallel/ddp_overlap.h"

#include <utility>
#include <vector>

namespace rankbox {

namespace {

struct Bucket {
  std::vector<Parameter*> parameters;
  std::int64_t bytes = 0;
  std::int64_t layer = 0;  // whose backward produces its last gradient
  Tensor flat = {};
  Request request = {};
};

/// From the last parameter to the first.
std::vector<Bucket> plan(Sequential& model, std::int64_t bucket_bytes) {
  std::vector<Bucket> buckets;
  for (std::int64_t layer = model.size(); layer-- > 0;) {
    const std::vector<Parameter*> own = model.layer(layer).parameters();
    for (auto next = own.rbegin(); next != own.rend(); ++next) {
      const std::int64_t more = (*next)->value.bytes();
      if (buckets.empty() || buckets.back().bytes + more > bucket_bytes) buckets.emplace_back();
      Bucket& bucket = buckets.back();
      bucket.parameters.push_back(*next);
      bucket.bytes += more;
      bucket.layer = layer;
    }
  }
  return buckets;
}

/// Calls handle(gradient, its place in the bucket) for each gradient.
template <class Handle>
void for_each(Bucket& bucket, Handle handle) {
  std::int64_t begin = 0;
  for (Parameter* parameter : bucket.parameters) {
    const std::int64_t end = begin + parameter->value.size();
    handle(gradient_of(*parameter), Slice(bucket.flat).sub(begin, end));
    begin = end;
  }
}

void start(Comm& dist, Bucket& bucket) {
  bucket.flat = Tensor(count_elements(bucket.parameters));
  for_each(bucket, [](Slice gradient, Slice place) { copy(place, gradient); });
  bucket.request = dist.all_reduce_async(bucket.flat, ReduceOp::AVG);
}

}  // namespace

void ddp_overlap(Comm& dist, Sequential& model, Tensor dy, Saved& saved,
                 std::int64_t bucket_bytes) {
  std::vector<Bucket> buckets = plan(model, bucket_bytes);

  // 1. Backward; start every bucket that is complete.
  std::size_t next = 0;
  for (std::int64_t layer = model.size(); layer-- > 0;) {
    dy = model.layer(layer).backward(std::move(dy), saved);
    for (; next < buckets.size() && buckets[next].layer == layer; ++next)
      start(dist, buckets[next]);
  }

  // 2. Wait: only now the gradients are needed.
  for (Bucket& bucket : buckets) {
    dist.wait(bucket.request);
    for_each(bucket, [](Slice gradient, Slice place) { copy(gradient, place); });
  }
}

}  // namespace rankbox
