// Receives the next input while it computes, and sends the last output meanwhile.
#include <utility>
#include <vector>

#include "parallel/pipeline_gpipe.h"

namespace rankbox {

void pipeline_gpipe(Comm& dist, Stage& stage) {
  const int m = stage.micro_batches();
  const int prev = dist.rank() - 1;
  const int next = dist.rank() + 1;

  Tensor coming = stage.empty_input(0);
  Request arrives;
  if (!stage.is_first()) arrives = dist.irecv(coming, prev);
  Tensor going;
  Request leaves;
  for (int i = 0; i < m; ++i) {
    if (!stage.is_first()) dist.wait(arrives);
    Tensor x = std::move(coming);
    if (i + 1 < m) {
      coming = stage.empty_input(i + 1);
      if (!stage.is_first()) arrives = dist.irecv(coming, prev);
    }
    Tensor y = stage.forward(i, std::move(x));
    if (stage.is_last()) continue;
    if (i > 0) dist.wait(leaves);
    going = std::move(y);
    leaves = dist.isend(going, next);
  }
  if (!stage.is_last()) dist.wait(leaves);

  for (int i = 0; i < m; ++i) {
    Tensor dy = stage.empty_output_gradient(i);
    if (!stage.is_last()) dist.recv(dy, next);
    const Tensor dx = stage.backward(i, std::move(dy));
    if (!stage.is_first()) dist.send(dx, prev);
  }
}

}  // namespace rankbox
