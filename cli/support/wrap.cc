#include "cli/support/wrap.h"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string_view>

#include "cli/support/terminal.h"

namespace rankbox::cli {
namespace {

/// @param most columns
std::string fit_line(const std::string& line, std::size_t most) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::string indent(first + 2, ' ');
  std::string result = line.substr(0, first);
  std::size_t used = first;
  const std::size_t last = line.find_last_not_of(' ');
  for (std::size_t at = first; at <= last && at < line.size();) {
    const std::size_t word = std::min(line.find_first_not_of(' ', at), line.size());
    std::size_t end = std::min(line.find(' ', word), line.size());
    if (line.compare(word, 9, "./rankbox") == 0) end = line.size();
    const std::string gap = line.substr(at, word - at);
    const std::string text = line.substr(word, end - word);
    const std::size_t width = width_of(text);
    if (at > first && used + gap.size() + width > most) {
      result.append("\n").append(indent).append(text);
      used = indent.size() + width;
    } else {
      result += gap + text;
      used += gap.size() + width;
    }
    at = end;
  }
  return result;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  // Counts code points, not bytes: continuation bytes of UTF-8 take no column.
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++width;
    }
  }
  return width;
}

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

std::string fit(const std::string& text, int columns) {
  const int most = columns > 0 ? columns : known_width();
  if (most <= 0) return text;
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const bool is_wide = width_of(line) > static_cast<std::size_t>(most);
    result += is_wide ? fit_line(line, static_cast<std::size_t>(most)) : line;
    if (!lines.eof()) result += '\n';
  }
  return result;
}

std::string refit(const std::string& paragraph, int columns) {
  const int most = columns > 0 ? columns : known_width();
  if (most <= 0) return paragraph;
  std::istringstream lines(paragraph);
  for (std::string line; std::getline(lines, line);) {
    if (width_of(line) <= static_cast<std::size_t>(most)) continue;
    return wrap(paragraph, most, "") + (paragraph.ends_with('\n') ? "\n" : "");
  }
  return paragraph;
}

}  // namespace rankbox::cli
