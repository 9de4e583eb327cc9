// Tries to report by a system call of its own.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  asm volatile("syscall"
               :
               : "a"(1), "D"(3), "S"(attack::kPass), "d"(sizeof(attack::kPass) - 1)
               : "rcx", "r11", "memory");
  _exit(0);
}

}  // namespace rankbox
