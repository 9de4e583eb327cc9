// Tables of a report, also where not all of their columns fit.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

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

}  // namespace rankbox::cli
