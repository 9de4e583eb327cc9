// Runs the built rankbox on a copy of the project, as a user would.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/verdict.h"

namespace rankbox {

struct CommandResult {
  int exit_code = 0;   // 128 + signal if one ended it
  std::string output;  // stdout and stderr
};

/// Returns a separate project in the test's temporary folder. Exercises and solutions are copies
/// and may be written to; the headers are those of the source tree. Sets RANKBOX_ROOT. Created once
/// per test.
const std::string& project();

/// Returns the text of a file of the project.
std::string read_file(const std::string& path);

/// Returns the path of rankbox-more, the program with all subcommands.
std::string rankbox_program();

/// Runs rankbox with these arguments, in the project's folder, with at most this much private
/// memory; 0: no limit.
CommandResult rankbox(const std::vector<std::string>& arguments, std::int64_t memory_bytes = 0);

/// As rankbox(), with this program.
CommandResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          std::int64_t memory_bytes = 0);

/// Returns the verdict that `rankbox check --json` with these arguments prints.
Verdict checked(std::vector<std::string> arguments);

/// Returns the verdicts of many checks, two at a time, in order. Status kError where none was
/// printed.
std::vector<Verdict> checked_all(const std::vector<std::vector<std::string>>& checks);

}  // namespace rankbox
