#include "parallel/stage.h"

#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/rows.h"

namespace rankbox {

namespace {

void check_shape(const char* call, int i, const Tensor& tensor, const Shape& expected,
                 const char* source) {
  if (tensor.shape() == expected) return;
  throw InvalidArgument(fmt::format(
      "{} of micro-batch {} got a tensor of shape {}, expected {}: receive it into {}({})", call, i,
      to_string(tensor.shape()), to_string(expected), source, i));
}

}  // namespace

Stage::Stage(const Model& model, const StageCut& cut)
    : cut_(cut), layers_(std::make_unique<Sequential>(model, cut.begin, cut.end)) {}

void Stage::load(std::vector<Batch> micro_batches, std::int64_t step) {
  all_.clear();
  samples_ = 0;
  step_ = step;
  loss_ = {};
  for (Batch& batch : micro_batches) {
    samples_ += static_cast<double>(batch.size());
    if (!is_first()) batch.x = {};
    all_.push_back({std::move(batch)});
  }
}

const Stage::MicroBatch& Stage::at(int i, const char* call) const {
  if (i >= 0 && i < micro_batches()) return all_[static_cast<std::size_t>(i)];
  throw InvalidArgument(
      fmt::format("{} of micro-batch {}: there are {}, numbered from 0", call, i, micro_batches()));
}

Stage::MicroBatch& Stage::at(int i, const char* call) {
  return const_cast<MicroBatch&>(std::as_const(*this).at(i, call));
}

Shape Stage::shape_of(const MicroBatch& micro_batch, const Shape& sample) const {
  std::vector<std::int64_t> extents = sample.extents();
  extents.insert(extents.begin(), micro_batch.batch.size());
  return extents;
}

Tensor Stage::empty_input(int i) const {
  const MicroBatch& own = at(i, "empty_input");
  return is_first() ? Tensor() : Tensor(shape_of(own, cut_.input));
}

Tensor Stage::empty_output_gradient(int i) const {
  const MicroBatch& own = at(i, "empty_output_gradient");
  return is_last() ? Tensor() : Tensor(shape_of(own, cut_.output));
}

Tensor Stage::forward(int i, Tensor x) {
  MicroBatch& own = at(i, "forward");
  if (own.state != State::kWaiting) {
    throw InvalidArgument(fmt::format(
        "forward of micro-batch {} for the second time: each goes forward once in a step", i));
  }
  if (!is_first()) check_shape("forward", i, x, shape_of(own, cut_.input), "empty_input");
  if (is_first()) x = std::move(own.batch.x);
  if (on_turn) on_turn(Turn::kForward, i);
  own.state = State::kForward;
  own.saved = Saved(own.batch.pass(Mode::kTraining, step_));
  Tensor y = layers_->forward(std::move(x), own.saved);
  if (!is_last()) return y;

  Loss loss = cross_entropy(y, own.batch.labels, samples_);
  loss_.sum += loss.sum;
  loss_.counted += loss.counted;
  loss_.correct += loss.correct;
  own.loss_gradient = std::move(loss.gradient);
  return {};
}

Tensor Stage::go_back(Turn turn, int i, Tensor dy) {
  const bool in_halves = turn == Turn::kBackwardInput;
  const char* const call = in_halves ? "backward_input" : "backward";
  MicroBatch& own = at(i, call);
  if (own.state != State::kForward) {
    throw InvalidArgument(fmt::format(
        "{} of micro-batch {} {}", call, i,
        own.state == State::kWaiting ? "before its forward: there is nothing yet to go back through"
                                     : "for the second time: each goes back once in a step"));
  }
  if (!is_last()) check_shape(call, i, dy, shape_of(own, cut_.output), "empty_output_gradient");
  if (is_last()) dy = std::move(own.loss_gradient);
  if (on_turn) on_turn(turn, i);
  own.state = in_halves ? State::kHalfBackward : State::kDone;
  if (in_halves) own.saved.postpone_weights();
  return layers_->backward(std::move(dy), own.saved);
}

Tensor Stage::backward(int i, Tensor dy) { return go_back(Turn::kBackward, i, std::move(dy)); }

Tensor Stage::backward_input(int i, Tensor dy) {
  return go_back(Turn::kBackwardInput, i, std::move(dy));
}

void Stage::backward_weights(int i) {
  MicroBatch& own = at(i, "backward_weights");
  if (own.state != State::kHalfBackward) {
    throw InvalidArgument(fmt::format(
        "backward_weights of micro-batch {} {}", i,
        own.state == State::kDone ? "has nothing left to add: its gradients are there already"
                                  : "before its backward_input, which leaves what it needs"));
  }
  if (on_turn) on_turn(Turn::kBackwardWeights, i);
  own.state = State::kDone;
  own.saved.run_postponed();
}

std::vector<Batch> micro_batches_of(const Batch& batch, int number) {
  if (number < 1 || number > batch.size()) {
    throw InvalidArgument(
        fmt::format("{} micro-batches of {} samples: each needs one at least; give 1 to {}", number,
                    batch.size(), batch.size()));
  }
  std::vector<Batch> pieces;
  for (std::int64_t i = 0; i < number; ++i) {
    pieces.push_back(
        micro_batch(batch, batch.size() * i / number, batch.size() * (i + 1) / number));
  }
  return pieces;
}

}  // namespace rankbox
