// Loads a learner's function from a library made by cli/plugin/compile.h.
#pragma once

#include <string>

namespace rankbox::cli {

using LearnersFunction = void (*)();  // the caller knows its real type

struct LoadedFunction {
  LearnersFunction function = nullptr;
  std::string problem;          // why there is none, with demangled C++ names
  const void* entry = nullptr;  // an address inside the library
};

/// Returns the message for a file without this function.
std::string no_function(const std::string& signature);

/// The end of the problem where a library calls a function that this program does not have.
inline constexpr const char* kDefinedNowhere = "defined nowhere";

/// Opens a library and finds its function. The library stays open.
/// @param signature of the function, for the message if it is missing
LoadedFunction load_function(const std::string& library, const std::string& signature);

/// The same of a reference solution, for exercises whose promised cost is the solution's. Returns
/// null for no library. Throws Error if the function is missing.
LearnersFunction load_solution(const std::string& library, const std::string& signature);

}  // namespace rankbox::cli
