// Tries to start threads without end.
#include <exception>
#include <thread>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  try {
    while (true) std::thread([] { pause(); }).detach();
  } catch (const std::exception&) {
  }
}

}  // namespace rankbox
