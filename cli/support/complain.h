// The error message of a program, in one line.
#pragma once

#include <string_view>

namespace rankbox::cli {

/// Prints the error on stderr in one line, after flushing standard output. Returns exit_code.
/// @param program its name in the message: "rankbox compare"
int complain(std::string_view program, std::string_view what, int exit_code);

}  // namespace rankbox::cli
