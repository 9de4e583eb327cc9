#include "collectives/allreduce_ring_segmented.h"

namespace rankbox {

void allreduce_ring_segmented(Comm& dist, Tensor& tensor, ReduceOp op, int segments) {
  // TODO: allreduce_ring, but each chunk travels as segment(chunk, i, segments), i = 0, 1, …
  // Number the messages 0, 1, 2, … over all steps. Which of them must have arrived, and been added,
  // before message k can leave? What can be in flight while a segment is added? And with 1 segment?
  throw NotImplemented("allreduce_ring_segmented");
}

}  // namespace rankbox
