// Tries to run before all constructors.
#include "collectives/broadcast_naive.h"

static void early() {}
__attribute__((section(".preinit_array"), used)) static void (*const kEarly)() = early;

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
