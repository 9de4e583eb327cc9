// Converts addresses in a library to lines of a source file.
#pragma once

#include <string>

namespace rankbox::cli {

struct SourceLine {
  std::string file;
  int line = 0;  // 0: unknown
};

/// Returns the line of the first of these addresses (hexadecimal offsets, separated by spaces,
/// innermost first) in `file`. Needs addr2line, which comes with every compiler; without it, line
/// 0.
SourceLine source_line(const std::string& library, const std::string& addresses,
                       const std::string& file);

/// Returns the line where `file` first names `function`, followed by an opening parenthesis; 0 if
/// there is none.
int line_of_function(const std::string& file, const std::string& function);

}  // namespace rankbox::cli
