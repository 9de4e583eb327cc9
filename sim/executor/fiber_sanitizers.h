// Informs the thread and address sanitizers of fiber switches.
//
// They cannot detect which stack is in use. Without sanitizers, these functions do nothing.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#define RANKBOX_FIBERS_TSAN
#elif defined(__SANITIZE_ADDRESS__)
#define RANKBOX_FIBERS_ASAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RANKBOX_FIBERS_TSAN
#elif __has_feature(address_sanitizer)
#define RANKBOX_FIBERS_ASAN
#endif
#endif

#if defined(RANKBOX_FIBERS_TSAN)
#include <sanitizer/tsan_interface.h>
extern "C" void __tsan_func_entry(void* caller);
#elif defined(RANKBOX_FIBERS_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace rankbox::sim {

/// The sanitizer state of one fiber, or of a thread's own stack.
class FiberMarks {
 public:
#if defined(RANKBOX_FIBERS_TSAN)
  void mark_as_thread() { fiber_ = __tsan_get_current_fiber(); }
  void mark_as_new(void*, std::size_t) { fiber_ = __tsan_create_fiber(0); }
  void leave_for(const FiberMarks&) {}
  // The sanitizer counts calls and returns. It counts the calls that create a fiber for another
  // fiber, but the returns for the new one. So a fiber starts with spare entries. This function
  // must not be instrumented, because it is called on one fiber and returns on another.
  __attribute__((no_sanitize("thread"))) void arrive_from(FiberMarks& before, bool has_ended) {
    constexpr int kInStock = 16;
    __tsan_switch_to_fiber(fiber_, 0);
    for (; in_stock_ < kInStock; ++in_stock_) __tsan_func_entry(__builtin_return_address(0));
    if (has_ended) __tsan_destroy_fiber(before.fiber_);
  }

 private:
  void* fiber_ = nullptr;
  int in_stock_ = 0;
#elif defined(RANKBOX_FIBERS_ASAN)
  void mark_as_thread() {}  // switching to the next fiber registers its stack
  void mark_as_new(void* bottom, std::size_t bytes) {
    bottom_ = bottom;
    bytes_ = bytes;
  }
  void leave_for(const FiberMarks& next) {
    __sanitizer_start_switch_fiber(&fake_, next.bottom_, next.bytes_);
  }
  void arrive_from(FiberMarks& before, bool has_ended) {
    __sanitizer_finish_switch_fiber(fake_, &before.bottom_, &before.bytes_);
    if (!has_ended) return;
    // A fiber's last functions still use the memory that replaces its stack (to find uses after
    // return), so it cannot free that memory when it ends. The next fiber does so under its
    // identity.
    __sanitizer_start_switch_fiber(&fake_, bottom_, bytes_);
    __sanitizer_finish_switch_fiber(before.fake_, nullptr, nullptr);
    __sanitizer_start_switch_fiber(nullptr, bottom_, bytes_);
    __sanitizer_finish_switch_fiber(fake_, nullptr, nullptr);
  }

 private:
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_ = nullptr;
#else
  void mark_as_thread() {}
  void mark_as_new(void*, std::size_t) {}
  void leave_for(const FiberMarks&) {}
  void arrive_from(FiberMarks&, bool) {}
#endif
};

/// Clears the marks that guard stacks. Call before their memory is freed.
inline void forget_stacks([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes) {
#if defined(RANKBOX_FIBERS_ASAN)
  __asan_unpoison_memory_region(begin, bytes);
#endif
}

}  // namespace rankbox::sim
