// Word wrap.
#pragma once

#include <string>

namespace rankbox::cli {

/// Breaks a paragraph at spaces into lines of at most `columns` characters (0: the terminal's, at
/// most 100). Lines after the first begin with `indent`. A longer word stays whole.
std::string wrap(const std::string& text, int columns = 0, const std::string& indent = "  ");

}  // namespace rankbox::cli
