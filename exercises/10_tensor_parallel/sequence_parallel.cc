#include "parallel/sequence_parallel.h"

namespace rankbox {

void sequence_parallel(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                       Saved& saved) {
  // TODO: which half of an all-reduce replaces f, and which replaces g? To which rows is the bias
  // added, and from which does its gradient come?
  throw NotImplemented("sequence_parallel");
}

}  // namespace rankbox
