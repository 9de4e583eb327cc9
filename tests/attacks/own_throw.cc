// Tries to replace how the whole process throws.
#include <cstdlib>

#include "attack.h"

extern "C" void own_throw() __asm__("__cxa_throw");
extern "C" void own_throw() { std::_Exit(0); }

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { throw Error("mine"); }

}  // namespace rankbox
