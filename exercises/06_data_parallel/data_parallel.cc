#include "parallel/data_parallel.h"

namespace rankbox {

void data_parallel(Comm& dist, Sequential& model, const Batch& batch) {
  // TODO: the seven steps of the header. What does rank 0 need from the others, and what do they
  // need? Forward and backward share a Saved. Only rank 0 knows labels, so only rank 0 knows the
  // loss.
  throw NotImplemented("data_parallel");
}

}  // namespace rankbox
