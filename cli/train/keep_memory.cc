#include "cli/train/keep_memory.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace rankbox::train {

void keep_freed_memory() {
#if defined(__GLIBC__)
  constexpr int kMost = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kMost);
  mallopt(M_TRIM_THRESHOLD, kMost);
#endif
}

}  // namespace rankbox::train
