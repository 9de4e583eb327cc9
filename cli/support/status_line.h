// One line on a terminal that says what takes so long, and for how long it has.
#pragma once

#include <chrono>
#include <string>

namespace rankbox::cli {

/// Writes to stderr where that is a terminal, nothing elsewhere. The line goes with the object.
class StatusLine {
 public:
  explicit StatusLine(std::string what);
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine();

  /// From now on it is about something else; the time starts again.
  void set(std::string what);
  /// Call it often: shows the line from the first second on, once a second.
  void tick();

 private:
  std::string what_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::seconds shown_{0};  // 0: nothing is shown
};

}  // namespace rankbox::cli
