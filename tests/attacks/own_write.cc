// Tries to replace how the whole process writes, so that nothing is reported.
#include <cstddef>

#include <sys/types.h>

#include "attack.h"

extern "C" ssize_t write(int, const void*, std::size_t size) { return static_cast<ssize_t>(size); }

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
