// Runs the rankbox that was built, on a copy of the project, as a user would.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verdict/verdict.h"

namespace rankbox {

struct CommandResult {
  int exit_code = 0;   // 128 + signal if one ended it
  std::string output;  // stdout and stderr
};

/// A project of its own in the test's temporary folder: exercises and solutions are copies and may
/// be written to; the headers are those of the source tree. Sets RANKBOX_ROOT. Made once per test.
const std::string& project();

/// The text of a file of the project.
std::string read_file(const std::string& path);

/// The path of the program itself.
std::string rankbox_program();

/// rankbox with these arguments, in the project's folder. It may use that much private memory; 0:
/// as much as there is.
CommandResult rankbox(const std::vector<std::string>& arguments, std::int64_t memory_bytes = 0);

/// The verdict that `rankbox check --json` with these arguments prints.
Verdict checked(std::vector<std::string> arguments);

/// The verdicts of many checks, two at a time, in order. Status kError where none was printed.
std::vector<Verdict> checked_all(const std::vector<std::vector<std::string>>& checks);

}  // namespace rankbox
