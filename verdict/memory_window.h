// Measures the memory that a rank holds while a function runs: tensors, and all else from `new`.
//
//   MemoryWindow window;
//   function(dist, …);
//   window.peak()    the most bytes at any moment
//   window.kept()    bytes still held, also in static variables of the function
//
// The count of tensors (comm/memory_meter.h) does not include a std::vector. This one does, because
// it replaces the program's operator new. A thread's allocations count for that thread, and its
// frees are subtracted, whichever thread allocated. Under a sanitizer, which replaces operator new
// itself, only tensors are counted.
//
// Thread safety: a window sees its own thread only. REQUIRES: one window at a time on a thread. A
// new window resets the peak, and with it the rank's RunReport::peak_bytes.
#pragma once

#include <cstdint>

namespace rankbox {

class MemoryWindow {
 public:
  MemoryWindow();

  /// Both above what was held when the window was opened.
  std::int64_t peak() const;
  std::int64_t kept() const;

  /// Whether memory that is no tensor's is counted, too.
  static bool counts_everything();

 private:
  std::int64_t held_before_;
};

}  // namespace rankbox
