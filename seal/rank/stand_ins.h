// Stand-ins for the referee's objects: each method is a request. See seal/referee/call.h.
//
// A request carries the state of all arguments there and back, because an object may use any of
// them: an optimizer steps parameters that are another argument's.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "seal/rank/request.h"
#include "seal/state.h"
#include "seal/values.h"
#include "training/layer.h"
#include "training/optimizer.h"

namespace rankbox::seal {

/// Makes a request with the state, and takes over the state of its reply. Returns the reply's
/// reader through `rest`, if it is not null.
class ObjectRequest {
 public:
  explicit ObjectRequest(const State& state) : state_(state) { state.put(arguments); }

  /// Call once. Returns a reader of what follows the state.
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

class StandInLayer : public Layer {
 public:
  /// @param number as Argument<Layer&> wrote it
  StandInLayer(const State& state, std::size_t number) : state_(state), number_(number) {}

  Tensor forward(Tensor x, Saved& saved) override {
    ObjectRequest forward(state_);
    forward.arguments.put(number_);
    put_pass(forward.arguments, saved.pass());
    put_tensor(forward.arguments, x);
    ByteReader reply = forward.make(Kind::kForward);
    // Stands for what the layer saved.
    saved.push(from_host({reply.next<std::int32_t>()}));
    return next_tensor<float>(reply);
  }

  Tensor backward(Tensor dy, Saved& saved) override {
    const std::int32_t token = saved.empty() ? 0 : to_host(saved.pop_integers()).at(0);
    ObjectRequest backward(state_);
    backward.arguments.put(number_);
    backward.arguments.put(token);
    put_tensor(backward.arguments, dy);
    ByteReader reply = backward.make(Kind::kBackward);
    return next_tensor<float>(reply);
  }

  std::vector<Parameter*> parameters() override { return pointers(parameters_); }
  std::vector<NamedTensor*> statistics() override { return pointers(statistics_); }

  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::vector<std::unique_ptr<NamedTensor>> statistics_;

 private:
  template <class T>
  static std::vector<T*> pointers(const std::vector<std::unique_ptr<T>>& owned) {
    std::vector<T*> all;
    for (const auto& each : owned) all.push_back(each.get());
    return all;
  }

  const State& state_;
  const std::size_t number_;
};

class StandInOptimizer : public Optimizer {
 public:
  explicit StandInOptimizer(const State& state) : state_(state) {}
  void step() override { ObjectRequest(state_).make(Kind::kStep); }
  std::vector<NamedTensor*> state() override { return {}; }

 private:
  const State& state_;
};

}  // namespace rankbox::seal
