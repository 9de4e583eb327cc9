// How a program ends: its error, and whether its output was written.
#pragma once

#include <string_view>

namespace rankbox::cli {

/// The exit code for a mistake on the command line.
inline constexpr int kMistake = 2;

/// Prints the error on stderr, after flushing standard output. Returns exit_code. A mistake on the
/// command line is one line; the failure of a run, as a deadlock, keeps its lines.
/// @param program its name in the message: "rankbox compare"
int complain(std::string_view program, std::string_view what, int exit_code);

/// Flushes standard output. Throws std::runtime_error if not all of it was written: a full disk or
/// a closed pipe is a failure too, also in an earlier line.
void finish_output();

}  // namespace rankbox::cli
