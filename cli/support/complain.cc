#include "cli/support/complain.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace rankbox::cli {

int complain(std::string_view program, std::string_view what, int exit_code) {
  std::fflush(stdout);
  std::string text(what);
  if (exit_code == kMistake) std::ranges::replace(text, '\n', ' ');
  fmt::print(stderr, "{}: {}\n", program, text);
  return exit_code;
}

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::runtime_error("cannot write to standard output");
}

}  // namespace rankbox::cli
