#include "parallel/sequence_parallel.h"

namespace rankbox {

void sequence_parallel(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                       Saved& saved) {
  // TODO: which half of an all-reduce is where f was, and which where g was? To which rows is the bias
  // added, and which does its gradient come from?
  throw NotImplemented("sequence_parallel");
}

}  // namespace rankbox
