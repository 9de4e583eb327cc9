// The stacks of all fibers of a world: one mapping, split into pieces.
//
// Only touched pages cost memory, so stacks are large: 1 MiB each in worlds of up to 1,024 ranks,
// 256 KiB beyond. Each has a guard page at its end, where an overflow stops the program instead of
// corrupting a neighbour. A guard splits the mapping, though, and Linux grants a process 65,530
// pieces (vm.max_map_count). Worlds that would use more than half of them, from some 16,000 ranks
// on, have no guards.
//
// Stacks that begin at multiples of a power of two would all map to the same few sets of a cache.
// So a page lies between them, guarded or not, which shifts each stack by one page more. Their
// first frames begin at different lines of a page.
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
  std::size_t count_;
  std::size_t page_;
  std::size_t stack_bytes_;
  char* begin_ = nullptr;  // guard, stack, guard, stack, ...
};

}  // namespace rankbox::sim
