// A hint to the core that this thread is spinning.
#pragma once

namespace rankbox::sim {

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace rankbox::sim
