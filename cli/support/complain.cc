#include "cli/support/complain.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace rankbox::cli {

int complain(std::string_view program, std::string_view what, int exit_code) {
  std::fflush(stdout);
  std::string line(what);
  std::ranges::replace(line, '\n', ' ');
  fmt::print(stderr, "{}: {}\n", program, line);
  return exit_code;
}

}  // namespace rankbox::cli
