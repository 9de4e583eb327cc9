// Tries to leave the function undefined, so that the loader finds the judge's.
#include "attack.h"

#define broadcast_naive another_name

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { attack::send_junk(dist, tensor, src); }

}  // namespace rankbox
