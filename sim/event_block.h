// Memory for a block of events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "comm/trace.h"
#include "sim/huge_pages.h"

namespace rankbox::sim {

/// A fixed number of events. Memory is untouched until events are appended: a page that is never
/// written costs nothing. The largest blocks are a huge page, because first touches of small pages
/// would cost more than writing the events.
class EventBlock {
 public:
  static constexpr std::size_t kSmallest = 8;

  explicit EventBlock(std::size_t wanted)
      : events_(static_cast<Event*>(
            allocate_block(capacity_of(wanted) * sizeof(Event), alignof(std::max_align_t)))),
        capacity_(capacity_of(wanted)) {}

  std::size_t room() const { return capacity_ - size_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  void clear() { size_ = 0; }
  Event& append() { return *new (&events_.get()[size_++]) Event; }
  const Event* begin() const { return events_.get(); }
  const Event* end() const { return events_.get() + size_; }

 private:
  static_assert(std::is_trivially_destructible_v<Event>);
  static std::size_t capacity_of(std::size_t wanted) {
    return std::min(wanted, kHugePage / sizeof(Event));
  }
  struct Free {
    void operator()(Event* events) const { std::free(events); }
  };
  std::unique_ptr<Event, Free> events_;
  std::size_t size_ = 0;
  std::size_t capacity_;
};

}  // namespace rankbox::sim
