// Tries to have the judge keep a message that is longer than any buffer.
#include <stdexcept>
#include <string>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  throw std::runtime_error(std::string(std::size_t{65} << 20, 'x'));
}

}  // namespace rankbox
