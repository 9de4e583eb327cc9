// Tries to have the preprocessor fill all memory.
#include "collectives/broadcast_naive.h"

#define A(x) x x x x x x x x x x x x x x x x
#define B(x) A(A(A(A(x))))
#define C(x) B(B(B(x)))
int many = 0 C(+1);

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
