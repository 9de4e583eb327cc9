// Tries to hang the judge in the message of an exception.
#include <exception>

#include "attack.h"

namespace rankbox {

struct Endless : std::exception {
  const char* what() const noexcept override {
    for (volatile int i = 0;; i = i + 1) {
    }
  }
};

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { throw Endless(); }

}  // namespace rankbox
