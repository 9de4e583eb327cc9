// Tries to export a function of the C library by its version.
#include "collectives/broadcast_naive.h"

extern "C" long mine() { return 0; }
asm(".globl write\n.symver mine,write@@GLIBC_2.2.5");

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
