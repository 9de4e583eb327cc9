// Tries to change the precompiled header of later judgements.
#include <cstdlib>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::string command =
      "for f in " + attack::root() +
      "/.rankbox/precompiled/*/*/contract.h; do echo '#error' > $f || exit 1; done";
  if (std::system(command.c_str()) == 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
