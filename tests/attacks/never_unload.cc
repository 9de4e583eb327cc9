// Tries to hang the judge in the destructor of a static object.
#include "attack.h"

namespace rankbox {

struct Forever {
  ~Forever() {
    for (volatile int i = 0;; i = i + 1) {
    }
  }
};

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  static const Forever forever;
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
