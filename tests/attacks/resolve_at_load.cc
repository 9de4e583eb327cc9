// Tries to report a pass while the loader resolves its symbols.
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

extern "C" {
void nothing() {}
using Function = void (*)();
Function choose() {
  (void)!write(rankbox::attack::kReport, rankbox::attack::kPass,
               sizeof(rankbox::attack::kPass) - 1);
  _exit(0);
}
void chosen() __attribute__((ifunc("choose")));
}

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  chosen();
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
