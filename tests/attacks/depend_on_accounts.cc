// Tries to compare its time with that of another file.
#include "collectives/broadcast_naive.h"

#pragma GCC dependency "/etc/passwd"
#pragma GCC error "it was not found"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
