// The program, from its arguments to its exit code.
#pragma once

#include <string>
#include <vector>

namespace rankbox::train {

/// @param arguments argv, the program's name first
/// Where a launcher started several processes, all of them come here; only the first prints and
/// writes. Every error ends up as one line on stderr. Returns 0; 2 for a mistake of the user's, 128
/// and its number for a signal, 1 for anything else.
int run_program(const std::vector<std::string>& arguments);

}  // namespace rankbox::train
