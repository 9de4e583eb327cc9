// How much memory a rank held while a function ran: tensors, and all else that it asked `new` for.
//
//   MemoryWindow window;
//   function(dist, …);
//   window.peak()    bytes, at the worst moment
//   window.kept()    bytes that are still there: also in variables that nobody but the function knows
//
// The count of tensors (comm/memory_meter.h) does not see a std::vector; this does, because it replaces
// the program's operator new. What a thread allocates is counted on that thread, and what it frees is
// taken off, whoever had allocated it. Where a sanitizer needs operator new for itself, tensors alone are
// counted.
//
// Thread safety: a window sees its own thread only. One at a time on a thread: the next one's peak begins
// anew, and with it the rank's RunReport::peak_bytes.
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
