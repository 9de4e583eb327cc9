// The report as a table for docs/gpu_measured.md.
#include <fmt/format.h>

#include "cli/gpu/report.h"

namespace rankbox::cli {

std::string to_markdown(const Report& report) {
  std::string text = fmt::format("{}, {}: {}.\n\n| what | value | target | |\n|---|---|---|---|\n",
                                 report.date, in_words(report.machine), summary_of(report));
  for (const Line& line : report.lines) {
    for (const std::string& cell :
         {line.section + ": " + line.what, line.value, line.target, state_of(line)}) {
      text += "| ";
      // A bar or a line break would end the cell.
      for (const char c : cell) text += c == '|' ? "\\|" : std::string(1, c == '\n' ? ' ' : c);
      text += " ";
    }
    text += "|\n";
  }
  return text;
}

}  // namespace rankbox::cli
