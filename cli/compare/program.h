// The measuring program of one backend, run by a user or by the command line.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

/// The hidden subcommand of `rankbox` that runs this program.
inline constexpr const char* kWorkerSubcommand = "compare-worker";

/// The main() of rankbox-compare-BACKEND, and of the process that `./rankbox compare` starts. Under
/// a launcher, all processes call it; only the first one prints and writes files. Every error is
/// one line on stderr. Returns the exit code: 2 for a user error, 128 + number for a signal, 1 for
/// a wrong result or any other failure.
/// @param arguments argv, the program's name first
int run_compare_program(const std::vector<std::string>& arguments);

}  // namespace rankbox::cli
