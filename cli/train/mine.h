// Replaces reference functions by a learner's, through the dynamic linker.
//
//   --mine-library zero1=/tmp/x/zero1.so     repeatable; made by cli/plugin/compile.h
//
// The program is linked against a shared library of all reference solutions. A library that is
// loaded earlier and has a function of the same name replaces that function for all callers:
// strategies, and other solutions. Only a library of LD_PRELOAD is loaded early enough, so the
// program executes itself once more with the variable set. The second run restores the variable, so
// that children do not inherit it.
#pragma once

#include <string>
#include <vector>

#include "cli/support/named_file.h"

namespace rankbox::train {

using cli::NamedFile;

/// Removes the options --mine-library from the arguments, and returns them. Throws InvalidArgument
/// if one is not NAME=FILE.
std::vector<NamedFile> take_libraries(std::vector<std::string>& arguments);

/// Returns once the program calls the functions of these libraries. Call before any thread is
/// started, and before MPI. Throws Error, in one line, for a library that cannot be loaded or lacks
/// the function.
///
/// @param arguments argv, to execute the program again with
void preload(const std::vector<NamedFile>& libraries, const std::vector<std::string>& arguments);

}  // namespace rankbox::train
