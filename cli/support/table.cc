#include "cli/support/table.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "cli/support/terminal.h"
#include "cli/support/wrap.h"

namespace rankbox::cli {
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

}  // namespace rankbox::cli
