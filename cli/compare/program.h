// The program that measures: on whatever backend it is built for, by itself or for the command line.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

/// The hidden subcommand of `rankbox` that is this program.
inline constexpr const char* kWorkerSubcommand = "compare-worker";

/// main() of rankbox-compare-BACKEND, and of the process that `./rankbox compare` starts. Where a
/// launcher started several processes, all of them come here; only the first one prints and writes
/// files. Every error ends as one line on stderr: exit code 2 for a mistake of the user's, 1 for a
/// wrong result or anything else, 128 and its number for a signal.
/// @param arguments argv, the program's name first
int run_compare_program(const std::vector<std::string>& arguments);

}  // namespace rankbox::cli
