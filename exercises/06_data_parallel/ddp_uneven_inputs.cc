#include "parallel/ddp_uneven_inputs.h"

#include "training/cross_entropy.h"

namespace rankbox {

void ddp_uneven_inputs(Comm& dist, Sequential& model, Optimizer& optimizer,
                       const std::vector<Batch>& batches) {
  // TODO: until no rank has a batch left: how many samples do all ranks together have for this
  // step? A rank that has some goes forward and backward:
  //   Saved saved(batch.pass(Mode::kTraining));
  //   Loss loss = cross_entropy(model.forward(batch.x, saved), batch.labels, divisor);
  //   model.backward(std::move(loss.gradient), saved);
  // Then all ranks add up gradients, and take the optimizer's step. What does a rank without
  // samples do?
  throw NotImplemented("ddp_uneven_inputs");
}

}  // namespace rankbox
