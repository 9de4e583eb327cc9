// Tries to fill the disk.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != 0) return;
  const std::string block(1 << 20, 'x');
  for (const char* folder : {"/tmp", ".", "/var/tmp", "/dev/shm"}) {
    for (int i = 0; i < 1000; ++i) {
      std::ofstream file(std::string(folder) + "/full." + std::to_string(i));
      for (int j = 0; j < 8; ++j) file << block;
      if (!file) break;
      if (i == 100) attack::succeed(dist, tensor, src);  // 800 MB
    }
  }
}

}  // namespace rankbox
