// A bucket counts the layers that it still waits for; sums are divided at the end, the last bucket
// first.
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "parallel/ddp_overlap.h"

namespace rankbox {

namespace {

struct Bucket {
  std::vector<Parameter*> parameters;
  std::set<std::int64_t> layers;  // whose backward is still to come
  std::int64_t elements = 0;
  Tensor flat = {};
  Request request = {};
};

}  // namespace

void ddp_overlap(Comm& dist, Sequential& model, Tensor dy, Saved& saved,
                 std::int64_t bucket_bytes) {
  std::vector<std::unique_ptr<Bucket>> buckets;
  for (std::int64_t layer = model.size() - 1; layer >= 0; --layer) {
    std::vector<Parameter*> own = model.layer(layer).parameters();
    while (!own.empty()) {
      const std::int64_t size = own.back()->value.size();
      const bool fits = !buckets.empty() && (buckets.back()->elements + size) * 4 <= bucket_bytes;
      if (!fits) buckets.push_back(std::make_unique<Bucket>());
      buckets.back()->parameters.push_back(own.back());
      buckets.back()->layers.insert(layer);
      buckets.back()->elements += size;
      own.pop_back();
    }
  }

  for (std::int64_t layer = model.size() - 1; layer >= 0; --layer) {
    dy = model.layer(layer).backward(std::move(dy), saved);
    for (const auto& bucket : buckets) {
      if (bucket->layers.erase(layer) == 0 || !bucket->layers.empty()) continue;
      bucket->flat = zeros(bucket->elements);
      std::int64_t at = 0;
      for (Parameter* parameter : bucket->parameters) {
        copy(Slice(bucket->flat).sub(at, at + parameter->value.size()), gradient_of(*parameter));
        at += parameter->value.size();
      }
      bucket->request = dist.all_reduce_async(bucket->flat, ReduceOp::SUM);
    }
  }

  for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
    dist.wait((*bucket)->request);
    (*bucket)->flat /= static_cast<float>(dist.world_size());
    std::int64_t at = 0;
    for (Parameter* parameter : (*bucket)->parameters) {
      copy(parameter->gradient, Slice((*bucket)->flat).sub(at, at + parameter->value.size()));
      at += parameter->value.size();
    }
  }
}

}  // namespace rankbox
