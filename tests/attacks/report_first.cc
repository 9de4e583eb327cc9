// Tries to report before the judge does.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  (void)!write(attack::kReport, attack::kPass, sizeof(attack::kPass) - 1);
}

}  // namespace rankbox
