#include "parallel/conjugate_f.h"

namespace rankbox {

void conjugate_f(Comm& dist, Direction direction, Tensor& tensor) {
  // TODO: forward, all ranks have x already. Backward, what does each rank have, and what do all
  // need?
  throw NotImplemented("conjugate_f");
}

}  // namespace rankbox
