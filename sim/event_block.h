// Memory for a block of events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "comm/trace.h"

namespace rankbox::sim {

/// A fixed number of events. Memory is untouched until events are appended: a page that is never
/// written costs nothing. From 2 MiB on the block asks for huge pages, because first touches of
/// small pages would cost more than writing the events.
class EventBlock {
 public:
  static constexpr std::size_t kSmallest = 8;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  explicit EventBlock(std::size_t wanted) : capacity_(std::min(wanted, kHugePage / sizeof(Event))) {
    const std::size_t bytes = capacity_ * sizeof(Event);
    const std::size_t alignment = bytes >= kHugePage ? kHugePage : alignof(std::max_align_t);
    events_.reset(static_cast<Event*>(std::aligned_alloc(alignment, bytes)));
    if (events_ == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    if (bytes >= kHugePage)
      madvise(events_.get(), bytes, MADV_HUGEPAGE);  // only a hint: failure is harmless
#endif
  }

  std::size_t room() const { return capacity_ - size_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  void clear() { size_ = 0; }
  Event& append() { return *new (&events_.get()[size_++]) Event; }
  const Event* begin() const { return events_.get(); }
  const Event* end() const { return events_.get() + size_; }

 private:
  static_assert(std::is_trivially_destructible_v<Event>);
  struct Free {
    void operator()(Event* events) const { std::free(events); }
  };
  std::unique_ptr<Event, Free> events_;
  std::size_t size_ = 0;
  std::size_t capacity_;
};

}  // namespace rankbox::sim
