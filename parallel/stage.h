// A stage: one rank's layers of a model, with the micro-batches of one step.
//
//   micro-batches            stage 0              stage 1              stage 2
//   x ─────────────────────▶ layers 0 … 3 ── y ─▶ layers 4 … 6 ── y ─▶ layers 7 … 9 ─▶ loss
//                                        ◀─ dy ──              ◀─ dy ──
//
// The output of forward is the input of the next stage; the output of that stage's backward is the
// input of this one's backward. The chapter's exercises decide how and in which order tensors get
// there; a stage knows nothing of ranks.
//
//   Tensor x = stage.empty_input(i);            // of the right shape; empty on the first stage,
//   if (!stage.is_first()) dist.recv(x, prev);  // which has the data
//   Tensor y = stage.forward(i, std::move(x));  // empty on the last stage, which keeps its loss
//   if (!stage.is_last()) dist.send(y, next);
//
// The loss of a micro-batch is divided by the size of the whole batch, so that gradients add up to
// those of the mean loss: no further division is needed, and micro-batches may differ in size.
//
// The stage keeps what forward saves until backward needs it, separately for each micro-batch. This
// fills a pipeline's memory.
//
// The previous stage waits for the first result of backward, the derivative by the input; nothing
// waits for the second, the gradients of the weights, until the optimizer's step. So backward comes
// in two halves, too, which together do the same to the last bit:
//
//   Tensor dx = stage.backward_input(i, std::move(dy));  // keeps x and dy of every Linear
//   stage.backward_weights(i);                           // any time later
//
// Layers other than Linear add their gradients in the first half.
//
// Thread safety: a stage belongs to its rank.
// Errors: InvalidArgument for a micro-batch that does not exist, is sent forward twice, or backward
// before it was forward, and for a tensor of another shape than this micro-batch's; likewise for
// backward_weights before backward_input.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "parallel/stage_cut.h"
#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/sequential.h"

namespace rankbox {

/// A pass of a micro-batch through a stage; backward may come in two halves.
enum class Turn : std::uint8_t { kForward, kBackward, kBackwardInput, kBackwardWeights };

class Stage {
 public:
  Stage(const Model& model, const StageCut& cut);

  /// Sets the shapes, if they were unknown when the stage was made.
  void set_shapes(const Shape& input, const Shape& output) {
    cut_.input = input;
    cut_.output = output;
  }

  bool is_first() const { return cut_.stage == 0; }
  bool is_last() const { return cut_.stage + 1 == cut_.stages; }

  /// Loads the micro-batches of the next step. All stages get the same ones: labels, sample numbers
  /// and lengths; only the first stage keeps x. Drops what is left of the previous step.
  /// @param step of the optimizer; dropout depends on it
  void load(std::vector<Batch> micro_batches, std::int64_t step = 0);

  int micro_batches() const { return static_cast<int>(all_.size()); }

  /// What it was made and loaded with.
  const StageCut& cut() const { return cut_; }
  Batch& batch(int i) { return at(i, "batch").batch; }
  std::int64_t step() const { return step_; }

  /// A tensor to receive into: the previous stage's output for micro-batch i.
  Tensor empty_input(int i) const;
  /// The same for the derivative of the loss by this stage's output.
  Tensor empty_output_gradient(int i) const;

  /// @param x the previous stage's output for micro-batch i; ignored on the first stage. Taken:
  /// move it
  /// Returns this stage's output; on the last stage, which computes the loss of it, an empty
  /// tensor.
  Tensor forward(int i, Tensor x);
  /// Adds to the gradients of the parameters, and frees what forward left.
  /// @param dy the derivative by this stage's output; ignored on the last. Taken: move it
  /// Returns the derivative by this stage's input; on the first stage an empty tensor.
  Tensor backward(int i, Tensor dy);
  /// As backward, but keeps what the gradients of the weights need until backward_weights.
  Tensor backward_input(int i, Tensor dy);
  /// Adds to the gradients of the parameters what backward_input left out.
  void backward_weights(int i);

  /// The loss of the micro-batches so far, on the last stage; without gradient.
  const Loss& loss() const { return loss_; }
  std::vector<Parameter*> parameters() { return layers_->parameters(); }
  Sequential& layers() { return *layers_; }

  /// Sets a function that is called before each pass: to draw it, or to spend virtual time on it.
  std::function<void(Turn turn, int micro_batch)> on_turn;

 private:
  enum class State { kWaiting, kForward, kHalfBackward, kDone };
  struct MicroBatch {
    Batch batch;
    State state = State::kWaiting;
    Saved saved = {};
    Tensor loss_gradient = {};  // on the last stage
  };

  MicroBatch& at(int i, const char* call);
  const MicroBatch& at(int i, const char* call) const;
  Shape shape_of(const MicroBatch& micro_batch, const Shape& sample) const;
  Tensor go_back(Turn turn, int i, Tensor dy);

  StageCut cut_;
  std::unique_ptr<Sequential> layers_;
  std::vector<MicroBatch> all_;
  double samples_ = 0;  // of all micro-batches
  std::int64_t step_ = 0;
  Loss loss_;
};

/// A batch in this many pieces, which differ by at most one sample, for Stage::load. Throws
/// InvalidArgument for less than one, or for more than there are samples.
std::vector<Batch> micro_batches_of(const Batch& batch, int number);

}  // namespace rankbox
