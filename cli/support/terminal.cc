#include "cli/support/terminal.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
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

namespace {

/// Returns the end of the columns, from `begin` on, that fit beside the labels: one at least.
std::size_t end_of_block(const TableRow& titles, std::size_t begin, std::size_t room) {
  std::size_t used = width_of(titles.label);
  std::size_t end = begin;
  for (; end < titles.cells.size(); ++end) {
    used += 1 + width_of(titles.cells[end]);
    if (used > room && end > begin) break;
  }
  return end;
}

}  // namespace

std::string table(const std::vector<TableRow>& rows, int columns) {
  if (rows.empty()) return "";
  const int most = columns > 0 ? columns : known_width();
  const std::size_t room = most > 0 ? static_cast<std::size_t>(most) : std::string::npos;
  const std::size_t all = rows.front().cells.size();
  std::string text;
  for (std::size_t begin = 0, end = 0; begin == 0 || begin < all;
       begin = std::max(end, begin + 1)) {
    end = end_of_block(rows.front(), begin, room);
    for (const TableRow& row : rows) {
      if (row.cells.empty() && begin > 0) continue;
      std::string line = row.label;
      for (std::size_t i = begin; i < std::min(end, row.cells.size()); ++i)
        line += " " + row.cells[i];
      if (row.cells.empty() || end == all) line += row.remark;
      line = fit(line, columns);
      text += row.paint != nullptr ? fmt::format("{}{}\033[0m\n", row.paint, line) : line + "\n";
    }
  }
  return text;
}

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
