// The program, from its arguments to its exit code.
#pragma once

#include <string>
#include <vector>

namespace rankbox::train {

/// Runs the program. Under a launcher, all processes call it; only the first prints and writes.
/// Every error is one line on stderr. Returns 0 on success, 2 for a user error, 128 + number for a
/// signal, 1 for any other failure.
/// @param arguments argv, the program's name first
int run_program(const std::vector<std::string>& arguments);

}  // namespace rankbox::train
