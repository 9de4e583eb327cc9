// Tries to crash before the judge has begun.
#include <csignal>

#include "attack.h"

namespace rankbox {

__attribute__((constructor)) void crash() { std::raise(SIGKILL); }

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
