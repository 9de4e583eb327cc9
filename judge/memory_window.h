// Measures a rank's memory while a function runs: tensors, and all other memory from `new`.
//
//   MemoryWindow window;
//   function(dist, …);
//   window.peak()    the most bytes at any moment
//   window.kept()    bytes still held, also in static variables of the function
//
// The tensor meter (comm/memory_meter.h) does not include a std::vector. This window does, because
// it replaces the program's operator new. Allocations count for the thread that makes them. Frees
// are subtracted from the freeing thread, whichever thread allocated. A sanitizer replaces operator
// new itself; under one, only tensors count. Where ranks are processes, a window shows what the
// kernel has mapped for them (judge/seal/referee/rank_memory.h).
//
// Thread safety: a window measures only its own thread. REQUIRES: one window at a time on a thread.
// A new window resets the peak, and with it the rank's RunReport::peak_bytes.
#pragma once

#include <cstdint>

namespace rankbox {

class MemoryWindow {
 public:
  MemoryWindow();

  /// Both return bytes above those held when the window was opened.
  std::int64_t peak() const;
  std::int64_t kept() const;

  /// Returns whether memory other than tensors is counted, too.
  static bool counts_everything();

 private:
  std::int64_t held_before_;
};

/// While one lives, memory of this thread is not counted: what a referee needs to carry out a call
/// is not the function's.
class UncountedMemory {
 public:
  UncountedMemory();
  UncountedMemory(const UncountedMemory&) = delete;
  UncountedMemory& operator=(const UncountedMemory&) = delete;
  ~UncountedMemory();

  /// Returns whether one lives on this thread: the function runs in another process.
  static bool lives();

  /// Adds what the function holds in another process: its peak, and what it holds now.
  void count(std::int64_t peak, std::int64_t kept) {
    peak_ = peak;
    kept_ = kept;
  }

 private:
  std::int64_t now_;
  std::int64_t most_;
  std::int64_t peak_ = 0;
  std::int64_t kept_ = 0;
};

}  // namespace rankbox
