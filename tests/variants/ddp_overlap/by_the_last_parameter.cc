// A map from the last gradient of each bucket to the bucket.
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "parallel/ddp_overlap.h"

namespace rankbox {

namespace {

struct Sent {
  std::vector<Parameter*> parameters;
  Tensor flat;
  Request request;
};

}  // namespace

void ddp_overlap(Comm& dist, Sequential& model, Tensor dy, Saved& saved,
                 std::int64_t bucket_bytes) {
  // 1. The buckets, each under the parameter that comes last.
  std::map<Parameter*, std::vector<Parameter*>> buckets;
  std::vector<Parameter*> open;
  const std::vector<Parameter*> all = model.parameters();
  for (std::size_t i = all.size(); i-- > 0;) {
    open.push_back(all[i]);
    const bool ends = i == 0 || count_elements(open) * 4 + all[i - 1]->value.bytes() > bucket_bytes;
    if (ends) buckets[all[i]] = std::exchange(open, {});
  }

  // 2. Backward.
  std::vector<Sent> sent;
  for (std::int64_t layer = model.size(); layer-- > 0;) {
    dy = model.layer(layer).backward(std::move(dy), saved);
    const std::vector<Parameter*> own = model.layer(layer).parameters();
    for (std::size_t i = own.size(); i-- > 0;) {
      const auto bucket = buckets.find(own[i]);
      if (bucket == buckets.end()) continue;
      std::vector<float> packed;
      for (Parameter* parameter : bucket->second) {
        const std::vector<float> gradient = to_host(gradient_of(*parameter));
        packed.insert(packed.end(), gradient.begin(), gradient.end());
      }
      sent.push_back({bucket->second, from_host(packed), {}});
      sent.back().request = dist.all_reduce_async(sent.back().flat, ReduceOp::AVG);
    }
  }

  // 3. All together.
  std::vector<Request> requests;
  for (const Sent& bucket : sent) requests.push_back(bucket.request);
  dist.wait_all(requests);
  for (const Sent& bucket : sent) {
    std::int64_t at = 0;
    for (Parameter* parameter : bucket.parameters) {
      copy(parameter->gradient, Slice(bucket.flat).sub(at, at + parameter->value.size()));
      at += parameter->value.size();
    }
  }
}

}  // namespace rankbox
