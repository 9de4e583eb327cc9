#include "parallel/conjugate_g.h"

namespace rankbox {

void conjugate_g(Comm& dist, Direction direction, Tensor& tensor) {
  // TODO: forward, what does each rank have, and what do all need? And what is left to do backward?
  throw NotImplemented("conjugate_g");
}

}  // namespace rankbox
