// Tries to end the thread of a rank in order.
#include <pthread.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { pthread_exit(nullptr); }

}  // namespace rankbox
