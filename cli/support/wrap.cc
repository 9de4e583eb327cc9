#include "cli/support/wrap.h"

#include <algorithm>
#include <cstddef>
#include <sstream>

#include "cli/support/terminal.h"

namespace rankbox::cli {
namespace {

// Counts code points, not bytes: continuation bytes of UTF-8 take no column.
std::size_t width_of(const std::string& word) {
  return static_cast<std::size_t>(std::count_if(word.begin(), word.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string wrap(const std::string& text, int columns, const std::string& indent) {
  constexpr int kWidest = 100;
  const auto most =
      static_cast<std::size_t>(columns > 0 ? columns : std::min(terminal_width(), kWidest));
  std::istringstream words(text);
  std::string result;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    const std::size_t width = width_of(word);
    if (used > 0 && used + 1 + width > most) {
      result += "\n" + indent;
      used = indent.size();
    } else if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width;
  }
  return result;
}

}  // namespace rankbox::cli
