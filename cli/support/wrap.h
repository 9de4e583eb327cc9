// Word wrap.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankbox::cli {

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

}  // namespace rankbox::cli
