// A call goes backward through a layer and starts its buckets; the rest is another call.
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "parallel/ddp_overlap.h"

namespace rankbox {

namespace {

class Step {
 public:
  Step(Comm& dist, Sequential& model, Saved& saved, std::int64_t most)
      : dist_(dist), model_(model), saved_(saved), most_(most) {}

  void backward(std::int64_t layers, Tensor dy) {
    if (layers == 0) return;
    Layer& layer = model_.layer(layers - 1);
    dy = layer.backward(std::move(dy), saved_);
    std::vector<Parameter*> own = layer.parameters();
    for (; !own.empty(); own.pop_back()) {
      waiting_.push_back(own.back());
      const Parameter* next = own.size() > 1 ? own[own.size() - 2] : last_before(layers - 1);
      if (next == nullptr || (count_elements(waiting_) + next->value.size()) * 4 > most_) start();
    }
    backward(layers - 1, std::move(dy));
  }

  void finish() {
    for (const auto& [parameters, flat, request] : sent_) {
      dist_.wait(request);
      std::int64_t at = 0;
      for (Parameter* parameter : parameters) {
        copy(parameter->gradient, Slice(flat).sub(at, at + parameter->value.size()));
        at += parameter->value.size();
      }
    }
  }

 private:
  struct Bucket {
    std::vector<Parameter*> parameters;
    Tensor flat;
    Request request;
  };

  const Parameter* last_before(std::int64_t layer) const {
    while (layer-- > 0) {
      const std::vector<Parameter*> own = model_.layer(layer).parameters();
      if (!own.empty()) return own.back();
    }
    return nullptr;
  }

  void start() {
    Bucket& bucket = sent_.emplace_back();
    bucket.parameters = std::exchange(waiting_, {});
    bucket.flat = Tensor(count_elements(bucket.parameters));
    std::int64_t at = 0;
    for (Parameter* parameter : bucket.parameters) {
      copy(Slice(bucket.flat).sub(at, at + parameter->value.size()), gradient_of(*parameter));
      at += parameter->value.size();
    }
    bucket.request = dist_.all_reduce_async(bucket.flat, ReduceOp::AVG);
  }

  Comm& dist_;
  Sequential& model_;
  Saved& saved_;
  const std::int64_t most_;
  std::vector<Parameter*> waiting_;
  std::deque<Bucket> sent_;
};

}  // namespace

void ddp_overlap(Comm& dist, Sequential& model, Tensor dy, Saved& saved,
                 std::int64_t bucket_bytes) {
  Step step(dist, model, saved, bucket_bytes);
  step.backward(model.size(), std::move(dy));
  step.finish();
}

}  // namespace rankbox
