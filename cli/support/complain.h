// How a program ends that failed.
#pragma once

#include <string_view>

namespace rankbox::cli {

/// Says on stderr, in one line and behind all that is printed, what went wrong. Returns exit_code.
/// @param program who says so: "rankbox compare"
int complain(std::string_view program, std::string_view what, int exit_code);

}  // namespace rankbox::cli
