// What the forward pass of a batch saves for its backward pass.
//
// Layers hold parameters; all else that backward needs goes into a Saved, which belongs to the
// caller. So several micro-batches may be in flight at once, each with its own Saved, and a
// pipeline stage keeps in memory what its Saveds hold.
//
//   Saved saved;                          // one per batch
//   Tensor y = model.forward(x, saved);   // layers push
//   Tensor dx = model.backward(dy, saved);// layers pop, in reverse: afterwards it is empty
//
// It is a stack, because backward visits layers in the reverse order of forward. A tensor is freed
// as soon as the layer that popped it is done.
//
// A layer may leave the gradients of its weights for later (parallel/stage.h says why):
//
//   saved.postpone_weights();             // before backward
//   Tensor dx = model.backward(dy, saved);// keeps x and dy of each Linear
//   saved.run_postponed();                // adds the gradients of its weights, and frees both
//
// Thread safety: like any value. Errors: InvalidArgument for a pop without a matching push.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "comm/errors.h"
#include "comm/tensor.h"

namespace rankbox {

enum class Mode {
  kTraining,
  kEvaluation,  // dropout is off, batch norm uses its running statistics, nothing is saved
};

/// What layers must know about a batch besides its values. All stages of a pipeline get it.
struct Pass {
  Mode mode = Mode::kTraining;
  /// The optimizer's step: every step draws new dropout masks.
  std::int64_t step = 0;
  /// Sample i's number in the dataset; empty: i. Dropout depends on it and not on the position in
  /// the batch, so it is the same however a batch is sharded.
  std::vector<std::int64_t> samples = {};
  /// Tokens of sample i, before the padding; empty: there is no padding.
  std::vector<std::int32_t> lengths = {};
};

template <class T>
class SavedOf {
 public:
  /// Adds to the gradients of a layer's weights.
  using AddGradients = std::function<void(const TensorOf<T>& x, const TensorOf<T>& dy)>;

  SavedOf() = default;
  explicit SavedOf(Pass pass) : pass_(std::move(pass)) {}

  const Pass& pass() const { return pass_; }
  bool training() const { return pass_.mode == Mode::kTraining; }

  /// In evaluation the tensor is dropped.
  void push(TensorOf<T> tensor) {
    if (training()) entries_.emplace_back(std::move(tensor));
  }
  void push(TensorOf<std::int32_t> tensor) {
    if (training()) entries_.emplace_back(std::move(tensor));
  }
  /// Something else, whose owner is Saved until the layer takes it back.
  void push(std::shared_ptr<void> object) {
    if (training()) entries_.emplace_back(std::move(object));
  }
  TensorOf<T> pop() { return pop_as<TensorOf<T>>(); }
  TensorOf<std::int32_t> pop_integers() { return pop_as<TensorOf<std::int32_t>>(); }
  std::shared_ptr<void> pop_object() { return pop_as<std::shared_ptr<void>>(); }

  void postpone_weights() { postpones_ = true; }
  bool postpones() const { return postpones_; }
  /// Keeps a layer's x and dy until run_postponed() calls add(x, dy). REQUIRES: postpones().
  void postpone(TensorOf<T> x, TensorOf<T> dy, AddGradients add) {
    postponed_.push_back({std::move(x), std::move(dy), std::move(add)});
  }
  /// In the order of backward.
  void run_postponed() {
    for (Postponed& each : std::exchange(postponed_, {})) {
      each.add(each.x, each.dy);
      each = {};
    }
  }

  bool empty() const { return entries_.empty(); }
  /// Of all tensors that wait for backward, or for run_postponed().
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const Postponed& each : postponed_) sum += each.x.bytes() + each.dy.bytes();
    for (const Entry& entry : entries_) {
      sum += std::visit(
          [](const auto& each) -> std::int64_t {
            if constexpr (requires { each.bytes(); }) return each.bytes();
            return 0;
          },
          entry);
    }
    return sum;
  }

 private:
  using Entry = std::variant<TensorOf<T>, TensorOf<std::int32_t>, std::shared_ptr<void>>;

  template <class E>
  E pop_as() {
    if (entries_.empty() || !std::holds_alternative<E>(entries_.back())) {
      throw InvalidArgument(
          "backward does not fit what forward saved: give it the Saved of its own forward pass, in "
          "training mode, once, and go through the layers in reverse");
    }
    E entry = std::move(std::get<E>(entries_.back()));
    entries_.pop_back();
    return entry;
  }

  struct Postponed {
    TensorOf<T> x = {};
    TensorOf<T> dy = {};
    AddGradients add = {};
  };

  Pass pass_;
  bool postpones_ = false;
  std::vector<Postponed> postponed_;
  std::vector<Entry> entries_;
};
using Saved = SavedOf<float>;

}  // namespace rankbox
