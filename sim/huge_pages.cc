#include "sim/huge_pages.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rankbox::sim {
namespace {

class HugePages final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return allocate_block(bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t, std::size_t) override { std::free(block); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

void* allocate_block(std::size_t bytes, std::size_t alignment) {
  if (bytes >= kHugePage) alignment = std::max(alignment, kHugePage);
  // A multiple of the alignment, as std::aligned_alloc requires.
  const std::size_t size =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* const block = std::aligned_alloc(alignment, size);
  if (block == nullptr) throw std::bad_alloc();
#if defined(__linux__)
  if (bytes >= kHugePage) madvise(block, size, MADV_HUGEPAGE);
#endif
  return block;
}

std::pmr::memory_resource* huge_pages() {
  static HugePages resource;
  return &resource;
}

}  // namespace rankbox::sim
