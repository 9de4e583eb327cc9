#include "cli/support/terminal.h"

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace rankbox::cli {

bool use_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

bool is_interactive() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

int known_width() {
  constexpr int kNarrowest = 20;
  const char* columns = std::getenv("COLUMNS");
  const int chosen = columns == nullptr ? 0 : std::atoi(columns);
  if (chosen >= kNarrowest) return chosen;
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known ? size.ws_col : 0;
}

int terminal_width() {
  const int known = known_width();
  return known > 0 ? known : 80;
}

bool output_is_closed() {
  pollfd out = {STDOUT_FILENO, 0, 0};
  return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLNVAL)) != 0;
}

void end_if_output_is_closed() {
  if (!output_is_closed()) return;
  std::raise(SIGPIPE);
  throw std::runtime_error("cannot write to standard output");
}

bool has_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') {
      const std::string locale = value;
      return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
  }
  return false;
}

}  // namespace rankbox::cli
