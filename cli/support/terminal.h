// What fits on the terminal, and what it can do: lines, tables, colours, a line of progress.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankbox::cli {

/// Returns whether to write ANSI colours: standard output is a terminal, and NO_COLOR
/// (no-color.org) is not set.
bool use_colour();

/// Returns whether a user can answer questions: standard input and output are a terminal.
bool is_interactive();

/// Returns whether the terminal is set up for UTF-8, by the variables that decide it, in their
/// order.
bool has_utf8();

/// Returns whether standard output is a pipe that no process reads any more, as after `| head -1`,
/// or is closed. Costs a system call.
bool output_is_closed();

/// If it is, ends the process as a write would: by SIGPIPE. Throws std::runtime_error where that is
/// ignored. For long work between prints.
void end_if_output_is_closed();

/// Returns the columns that text is to fit into: $COLUMNS if it is set to a number from 20, else
/// the terminal's; 0 if standard output is no terminal.
int known_width();

/// As known_width(); 80 where that is 0.
int terminal_width();

/// Breaks a paragraph at spaces into lines of at most `columns` characters (0: the terminal's, at
/// most 100). Lines after the first begin with `indent`. A longer word stays whole.
std::string wrap(const std::string& text, int columns = 0, const std::string& indent = "  ");

/// Breaks the lines of a report that are wider than `columns` (0: known_width()) at spaces; what
/// follows is indented by two more. Spaces inside a line stay, colours take no columns, and a
/// command (./rankbox …) stays whole, so that it can be copied. Without a known width nothing
/// changes.
std::string fit(const std::string& text, int columns = 0);

/// Returns a paragraph whose lines are broken anew if one of them does not fit, for text that is
/// broken where a usual terminal ends.
std::string refit(const std::string& paragraph, int columns = 0);

/// Returns the columns that a text of one line takes: colours take none.
std::size_t width_of(std::string_view text);

struct TableRow {
  std::string label;
  std::vector<std::string> cells = {};  // padded: those of a column are of equal width
  std::string remark = {};              // after the cells
  const char* paint = nullptr;          // an escape sequence for the whole row
};

/// Returns the rows as lines; the first one has the titles. Columns that do not fit into `columns`
/// (0: known_width()) follow in a second block of lines, with the labels again, and so on. A remark
/// ends a row's last line; that of a row without cells is in the first block alone.
std::string table(const std::vector<TableRow>& rows, int columns = 0);

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
