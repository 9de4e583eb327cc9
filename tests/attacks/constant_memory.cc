// Tries to have the compiler fill all memory.
#include "collectives/broadcast_naive.h"

consteval int fill() {
  long* kept[1 << 10] = {};
  for (long*& each : kept) each = new long[1 << 17]();
  for (long*& each : kept) delete[] each;
  return 0;
}
constinit int filled = fill();

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
