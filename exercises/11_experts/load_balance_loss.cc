#include "parallel/load_balance_loss.h"

namespace rankbox {

void load_balance_loss(Comm& dist, const Tensor& scores, int k, double& loss) {
  // TODO: which numbers of a rank can be added over ranks, so that the loss follows from the sums?
  // Why not the losses themselves?
  throw NotImplemented("load_balance_loss");
}

}  // namespace rankbox
