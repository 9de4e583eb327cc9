// Stand-ins for the referee's objects: each method is a request. See judge/seal/referee/call.h.
//
// An optimizer's step carries the state of all arguments there and back, because it may change any
// of them; a layer's passes carry its own.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "judge/seal/rank/request.h"
#include "judge/seal/state.h"
#include "judge/seal/values.h"
#include "training/layer.h"
#include "training/optimizer.h"

namespace rankbox::seal {

/// A request that begins with a state, and whose reply does.
class ObjectRequest {
 public:
  explicit ObjectRequest(const State& state) : state_(state) { count_memory(); }

  /// Call once. Returns a reader of what follows the state in the reply.
  ByteReader make(Kind kind) {
    reply_ = request(kind, arguments);
    ByteReader reader(reply_);
    state_.get(reader);
    return reader;
  }

  ByteWriter arguments;

 private:
  const State& state_;
  std::string reply_;
};

/// Stands for what a layer's forward pass saved in the referee, which frees it with the last copy.
class PassToken {
 public:
  /// @param number 0: a forward pass of the referee's own
  explicit PassToken(std::uint32_t number) : number_(number) {}
  PassToken(const PassToken&) = delete;
  PassToken& operator=(const PassToken&) = delete;
  ~PassToken() {
    if (number_ == 0) return;
    ByteWriter writer;
    writer.put(number_);
    notify(Kind::kDropPass, writer);
  }

  std::uint32_t number() const { return number_; }
  /// The request that follows uses it up.
  std::uint32_t take() { return std::exchange(number_, 0); }

 private:
  std::uint32_t number_;
};

class StandInLayer : public Layer {
 public:
  /// @param number as Argument<Layer&> wrote it
  explicit StandInLayer(std::size_t number) : number_(number) {}

  Tensor forward(Tensor x, Saved& saved) override {
    ObjectRequest forward(state);
    forward.arguments.put(number_);
    state.put(forward.arguments);
    put_pass(forward.arguments, saved.pass());
    put_tensor(forward.arguments, x);
    ByteReader reply = forward.make(Kind::kForward);
    saved.push(std::make_shared<PassToken>(reply.next<std::uint32_t>()));
    return next_tensor<float>(reply);
  }

  Tensor backward(Tensor dy, Saved& saved) override {
    const auto token = saved.empty() ? std::make_shared<PassToken>(0)
                                     : std::static_pointer_cast<PassToken>(saved.pop_object());
    ObjectRequest backward(state);
    backward.arguments.put(number_);
    state.put(backward.arguments);
    backward.arguments.put(saved.postpones() ? token->number() : token->take());
    backward.arguments.put(static_cast<std::uint8_t>(saved.postpones()));
    put_tensor(backward.arguments, dy);
    ByteReader reply = backward.make(Kind::kBackward);
    if (saved.postpones()) {
      saved.postpone({}, {}, [this, token](const Tensor& /*x*/, const Tensor& /*dy*/) {
        ObjectRequest weights(state);
        weights.arguments.put(number_);
        state.put(weights.arguments);
        weights.arguments.put(token->take());
        weights.make(Kind::kWeights);
      });
    }
    return next_tensor<float>(reply);
  }

  std::vector<Parameter*> parameters() override { return pointers(owned_parameters); }
  std::vector<NamedTensor*> statistics() override { return pointers(owned_statistics); }

  State state;  // of these
  std::vector<std::unique_ptr<Parameter>> owned_parameters;
  std::vector<std::unique_ptr<NamedTensor>> owned_statistics;

 private:
  template <class T>
  static std::vector<T*> pointers(const std::vector<std::unique_ptr<T>>& owned) {
    std::vector<T*> all;
    for (const auto& each : owned) all.push_back(each.get());
    return all;
  }

  const std::size_t number_;
};

class StandInOptimizer : public Optimizer {
 public:
  explicit StandInOptimizer(const State& state) : state_(state) {}
  void step() override {
    ObjectRequest step(state_);
    state_.put(step.arguments);
    step.make(Kind::kStep);
  }
  std::vector<NamedTensor*> state() override { return {}; }

 private:
  const State& state_;
};

}  // namespace rankbox::seal
