// The measuring program of one backend, run by a user or by the command line.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

/// The hidden subcommand of `rankbox` that is this program.
inline constexpr const char* kWorkerSubcommand = "compare-worker";

/// main() of rankbox-compare-BACKEND, and of the process that `./rankbox compare` starts. Where a
/// launcher started several processes, all of them call it; only the first one prints and writes
/// files. Every error is one line on stderr. Exit codes: 2 for a user error, 128 + number for a
/// signal, 1 for a wrong result or any other failure.
/// @param arguments argv, the program's name first
int run_compare_program(const std::vector<std::string>& arguments);

}  // namespace rankbox::cli
