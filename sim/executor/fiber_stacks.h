// The stacks of all fibers of a world: one mapping, split into pieces.
//
// Only touched pages cost memory, so stacks are large: 1 MiB each in worlds of up to 1,024 ranks,
// 256 KiB up to 65,536, and 64 KiB beyond, where the tables of the pages would count. Each has a
// guard page at its end, where an overflow stops the program instead of corrupting a neighbour. A
// guard by mprotect splits the mapping, and Linux grants a process 65,530 pieces
// (vm.max_map_count). So guards are page-table entries (MADV_GUARD_INSTALL) where the kernel has
// them, from Linux 6.13 on. Older ones protect a quarter as many stacks as there are pieces; the
// others have only the check at each switch (fiber_worker.cc).
//
// Stacks that begin at multiples of a power of two would all map to the same few sets of a cache.
// So a page lies between them, guarded or not, which shifts each stack by one page more. In worlds
// of up to 16,384 ranks, first frames also begin at different lines of a page. Beyond, no cache
// holds a frame of every rank, and a rank should touch one page instead of two.
#pragma once

#include <cstddef>

namespace rankbox::sim {

class FiberStacks {
 public:
  struct Stack {
    char* bottom;
    std::size_t bytes;
    char* top() const { return bottom + bytes; }
  };

  /// Throws InvalidArgument if the address space is too small.
  explicit FiberStacks(int count);
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  Stack operator[](int index) const;

 private:
  void guard() const;

  std::size_t count_;
  std::size_t page_;
  std::size_t stack_bytes_;
  char* begin_ = nullptr;  // guard, stack, guard, stack, ...
};

}  // namespace rankbox::sim
