// Tries to leave with success.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { _exit(0); }

}  // namespace rankbox
