#include "parallel/ddp_no_sync.h"

#include "parallel/ddp_average_gradients.h"
#include "training/cross_entropy.h"

namespace rankbox {

void ddp_no_sync(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches) {
  // TODO: forward, loss and backward of every micro-batch:
  //   Saved saved(batch.pass(Mode::kTraining));
  //   Loss loss = cross_entropy(model.forward(batch.x, saved), batch.labels, divisor);
  //   model.backward(std::move(loss.gradient), saved);
  // What must each loss be divided by? And when must the gradients be sent?
  throw NotImplemented("ddp_no_sync");
}

}  // namespace rankbox
