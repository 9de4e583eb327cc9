// Tries to end the thread of a rank in the middle of a call.
#include <pthread.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  pthread_cancel(pthread_self());
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
