// What a compiler's tools say about a learner's library: lines, static variables, calls.
//
// Each tool runs in a container, and with little memory: a name may be short and its C++ form
// gigabytes long. Where a tool is missing, the answer is empty, and a verdict says less.
#pragma once

#include <string>

namespace rankbox::cli {

/// Returns the line of the first of these addresses (hexadecimal offsets, separated by spaces,
/// innermost first) in `file`; 0 if it is unknown.
int source_line(const std::string& library, const std::string& addresses, const std::string& file);

/// Returns the line where `file` first names `function`, followed by an opening parenthesis; 0 if
/// there is none.
int line_of_function(const std::string& file, const std::string& function);

/// Returns the names of at most three static variables, "last, table", which all ranks of the
/// sandbox share. Constants named as such (kTable) and thread_local ones do not count. Blocks for
/// some milliseconds.
std::string shared_statics(const std::string& library);

/// Returns the mangled names that the library expects elsewhere, a line each.
std::string undefined_names(const std::string& library);

}  // namespace rankbox::cli
