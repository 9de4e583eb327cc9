#include "parallel/parallel_mlp.h"

namespace rankbox {

void parallel_mlp(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                  Saved& saved) {
  // TODO: three layers forward, the same three backward in reverse. How often do ranks communicate
  // in each?
  throw NotImplemented("parallel_mlp");
}

}  // namespace rankbox
