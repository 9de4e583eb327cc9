#include "cli/support/status_line.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace rankbox::cli {

StatusLine::StatusLine(std::string what) { set(std::move(what)); }

StatusLine::~StatusLine() { set(""); }

void StatusLine::set(std::string what) {
  if (shown_.count() > 0) fmt::print(stderr, "\r\033[K");
  what_ = std::move(what);
  begin_ = std::chrono::steady_clock::now();
  shown_ = std::chrono::seconds(0);
}

void StatusLine::tick() {
  const auto passed =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin_);
  if (passed <= shown_ || isatty(STDERR_FILENO) == 0) return;
  shown_ = passed;
  fmt::print(stderr, "\r\033[K{} … {} s", what_, passed.count());
  std::fflush(stderr);
}

}  // namespace rankbox::cli
