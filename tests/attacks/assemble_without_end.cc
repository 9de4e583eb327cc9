// Tries to have the assembler fill all memory.
#include "collectives/broadcast_naive.h"

asm(".rept 2000000000\n.quad 1\n.endr");

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
