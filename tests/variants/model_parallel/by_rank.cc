// By rank and not by stage, and with requests.
#include <utility>

#include "parallel/model_parallel.h"

namespace rankbox {

void model_parallel(Comm& dist, Stage& stage) {
  const int rank = dist.rank();
  const int last = dist.world_size() - 1;
  const int number = stage.micro_batches();
  for (int i = 0; i != number; i++) {
    Tensor travels;
    if (rank > 0) {
      travels = stage.empty_input(i);
      dist.wait(dist.irecv(travels, rank - 1));
    }
    travels = stage.forward(i, std::move(travels));
    if (rank < last) {
      dist.wait(dist.isend(travels, rank + 1));
      travels = stage.empty_output_gradient(i);
      dist.recv(travels, rank + 1);
    }
    travels = stage.backward(i, std::move(travels));
    if (rank > 0) dist.send(travels, rank - 1);
  }
}

}  // namespace rankbox
