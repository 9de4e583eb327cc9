// Tries to become a program that succeeds.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { execl("/bin/true", "true", nullptr); }

}  // namespace rankbox
