// Tries to define the entry of the library itself.
#include "attack.h"

extern "C" void (*rankbox_exercise())() { return nullptr; }

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
