// Text of a learner's program, made safe for terminals, XML, JSON and logs of CI.
#pragma once

#include <string>
#include <string_view>

namespace rankbox {

/// Returns the text with control characters as their codes, \x1b for Escape, and so with bytes that
/// are no UTF-8 and characters that XML 1.0 forbids. Tabs and line ends stay. A program can then
/// neither change the terminal, nor hide or overwrite lines of the report, nor spoil its format.
/// Where a CI would read a command in its log (::error:: at the start of a line, ##[error] or
/// ##vso[), the first character is its code, too.
std::string visible_text(std::string_view text);

/// The same for a name: tabs and line ends are codes, too.
std::string visible_name(std::string_view name);

}  // namespace rankbox
