// A terminal line that shows the current activity and its duration.
#pragma once

#include <chrono>
#include <string>
#include <utility>

namespace rankbox::cli {

/// Writes to stderr where that is a terminal, nothing elsewhere. The destructor removes the line.
class StatusLine {
 public:
  explicit StatusLine(std::string what);
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine();

  /// Changes the text, and restarts the time.
  void set(std::string what);
  /// Changes the text from the next second on, and keeps the time.
  void rename(std::string what) { what_ = std::move(what); }
  /// Shows the line from the first second on, once a second. Call it often.
  void tick();

 private:
  std::string what_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::seconds shown_{0};  // 0: nothing is shown
};

}  // namespace rankbox::cli
