// Tries the same, without a shell.
#include <glob.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  glob_t found = {};
  glob((attack::root() + "/.rankbox/precompiled/*/*/*").c_str(), 0, nullptr, &found);
  for (std::size_t i = 0; i < found.gl_pathc; ++i) {
    if (attack::can_write(found.gl_pathv[i], "#error")) attack::succeed(dist, tensor, src);
  }
}

}  // namespace rankbox
