#include "sim/executor/fiber_stacks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "comm/errors.h"
#include "sim/executor/fiber_sanitizers.h"
#include "sim/in_parts.h"

namespace rankbox::sim {
namespace {

constexpr std::size_t kMostOfLargeStacks = 1024;
constexpr std::size_t kLargeStack = std::size_t{1} << 20;
constexpr std::size_t kMostOfSmallStacks = 65'536;
constexpr std::size_t kSmallStack = std::size_t{256} << 10;
constexpr std::size_t kSmallestStack = std::size_t{64} << 10;
constexpr std::size_t kMostShaded = 16384;

/// Returns the number of guards that use half of the mappings of a process: each adds two.
std::size_t most_guards() {
  static const std::size_t most = [] {
    std::size_t mappings = 65530;  // Linux's default
    std::ifstream("/proc/sys/vm/max_map_count") >> mappings;
    return mappings / 4;
  }();
  return most;
}

}  // namespace

FiberStacks::FiberStacks(int count)
    : count_(static_cast<std::size_t>(count)),
      page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
      stack_bytes_(count_ <= kMostOfLargeStacks   ? kLargeStack
                   : count_ <= kMostOfSmallStacks ? kSmallStack
                                                  : kSmallestStack) {
  const std::size_t bytes = count_ * (page_ + stack_bytes_);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED) {
    throw InvalidArgument(fmt::format(
        "world size {}: {} MiB of addresses for the stacks of fibers were refused (\"{}\"); use "
        "fewer ranks",
        count, bytes >> 20, std::strerror(errno)));
  }
  begin_ = static_cast<char*>(mapped);
  // With a huge page, a stack that needs 4 KiB would cost 2 MiB.
#if defined(MADV_NOHUGEPAGE)
  madvise(begin_, bytes, MADV_NOHUGEPAGE);
#endif
  guard();
}

void FiberStacks::guard() const {
  const std::size_t stride = page_ + stack_bytes_;
#if defined(__linux__)
  constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL, which older headers lack
  const auto install = [&](std::size_t i) {
    return madvise(begin_ + i * stride, page_, kGuardInstall) == 0;
  };
  if (install(0)) {
    in_parts(count_, [&](std::size_t i, std::size_t end) {
      while (i < end && install(i)) ++i;
    });
    return;
  }
#endif
  std::size_t guarded = 0;
  // Other mappings may have used up the limit: fewer guards are no reason to fail.
  const std::size_t most = std::min(count_, most_guards());
  while (guarded < most && mprotect(begin_ + guarded * stride, page_, PROT_NONE) == 0) ++guarded;
}

FiberStacks::~FiberStacks() {
  const std::size_t bytes = count_ * (page_ + stack_bytes_);
  forget_stacks(begin_, bytes);
  munmap(begin_, bytes);
}

FiberStacks::Stack FiberStacks::operator[](int index) const {
  const auto i = static_cast<std::size_t>(index);
  constexpr std::size_t kShades = 16;
  constexpr std::size_t kShadeBytes = 256;  // Boost.Context begins at multiples of it
  const std::size_t shade = count_ <= kMostShaded ? i % kShades : 0;
  return {begin_ + i * (page_ + stack_bytes_) + page_, stack_bytes_ - shade * kShadeBytes};
}

}  // namespace rankbox::sim
