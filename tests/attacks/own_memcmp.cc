// Tries to replace memcmp in the whole process.
#include <cstddef>

#include "attack.h"

extern "C" int memcmp(const void*, const void*, std::size_t) { return 0; }

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
