// Tries to replace operator new, which counts memory.
#include <cstdlib>
#include <new>

#include "attack.h"

void* operator new(std::size_t) { std::_Exit(0); }

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
