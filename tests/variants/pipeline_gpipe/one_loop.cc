// One loop over 2m passes.
#include <utility>

#include "parallel/pipeline_gpipe.h"

namespace rankbox {

void pipeline_gpipe(Comm& dist, Stage& stage) {
  const int m = stage.micro_batches();
  for (int k = 0; k < 2 * m; ++k) {
    const bool down = k < m;
    const int i = k % m;
    const bool comes = down ? !stage.is_first() : !stage.is_last();
    const bool goes = down ? !stage.is_last() : !stage.is_first();
    const int step = down ? 1 : -1;
    Tensor tensor = down ? stage.empty_input(i) : stage.empty_output_gradient(i);
    if (comes) dist.recv(tensor, dist.rank() - step);
    tensor = down ? stage.forward(i, std::move(tensor)) : stage.backward(i, std::move(tensor));
    if (goes) dist.send(tensor, dist.rank() + step);
  }
}

}  // namespace rankbox
