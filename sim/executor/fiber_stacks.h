// The stacks of all fibers of a world: one mapping, cut to pieces.
//
// Only pages that are touched cost memory, so stacks are as generous as addresses are cheap: 1 MiB
// each in worlds of up to 1,024 ranks, 256 KiB beyond. Each has a guard page at its end, where an
// overflow stops the program instead of corrupting a neighbour. A guard splits the mapping, though,
// and Linux grants a process 65,530 pieces (vm.max_map_count): worlds that would use up more than
// half of them, from some 16,000 ranks on, go without guards.
//
// Stacks that begin at equal distances of a power of two would all lie in the same few sets of a
// cache. So a page lies between them, guarded or not, which moves each by a page against the one
// before, and their first frames begin at different lines of a page.
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

  /// Throws InvalidArgument if there are not that many addresses.
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
