// Word wrap.
#pragma once

#include <string>

namespace rankbox::cli {

/// Breaks a paragraph at spaces into lines of at most `columns` characters (0: the terminal's, at
/// most 100); lines after the first begin with `indent`. A word that is longer stays whole.
std::string wrap(const std::string& text, int columns = 0, const std::string& indent = "  ");

}  // namespace rankbox::cli
