// Tries to leave a call through an earlier one.
#include <csetjmp>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  static std::jmp_buf earlier;
  static bool is_set = false;
  if (is_set) std::longjmp(earlier, 1);
  is_set = true;
  if (setjmp(earlier) == 0) attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
