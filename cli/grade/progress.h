// When a log gets a line about the progress of grading.
#pragma once

#include <cstddef>

namespace rankbox::cli {

/// Decides when to write a line: a log keeps all of them, where a terminal overwrites one.
/// Thread safety: one thread at a time.
class LogPace {
 public:
  /// Returns whether a line is due, which the caller then writes. More is done than the last line
  /// said, but not all. The last line, or else the start, was at least 10 s ago.
  /// @param seconds since the start
  bool is_due(double seconds, std::size_t done, std::size_t all);

 private:
  double last_ = 0;  // seconds
  std::size_t shown_ = 0;
};

}  // namespace rankbox::cli
