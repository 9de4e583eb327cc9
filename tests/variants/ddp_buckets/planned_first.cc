// First all buckets are planned, then one after the other is sent; the mean is a sum, divided.
#include "parallel/ddp_buckets.h"

namespace rankbox {

namespace {

struct Bucket {
  std::vector<Parameter*> parameters;
  std::int64_t elements = 0;
};

std::vector<Bucket> plan(const std::vector<Parameter*>& parameters, std::int64_t most) {
  std::vector<Bucket> buckets;
  for (std::size_t i = parameters.size(); i-- > 0;) {
    const std::int64_t size = parameters[i]->value.size();
    if (buckets.empty() || (buckets.back().elements + size) * 4 > most) buckets.emplace_back();
    buckets.back().parameters.push_back(parameters[i]);
    buckets.back().elements += size;
  }
  return buckets;
}

}  // namespace

void ddp_buckets(Comm& dist, const std::vector<Parameter*>& parameters, std::int64_t bucket_bytes) {
  for (const Bucket& bucket : plan(parameters, bucket_bytes)) {
    Tensor flat = zeros(bucket.elements);
    std::int64_t at = 0;
    for (Parameter* parameter : bucket.parameters) {
      const Slice place = Slice(flat).sub(at, at + parameter->value.size());
      if (!parameter->gradient.empty()) copy(place, parameter->gradient);
      at += parameter->value.size();
    }
    dist.all_reduce(flat, ReduceOp::SUM);
    flat /= static_cast<float>(dist.world_size());
    at = 0;
    for (Parameter* parameter : bucket.parameters) {
      copy(gradient_of(*parameter), Slice(flat).sub(at, at + parameter->value.size()));
      at += parameter->value.size();
    }
  }
}

}  // namespace rankbox
