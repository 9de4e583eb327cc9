// A learner's function, compiled to a shared library by cli/plugin/compile.h, in the program that
// runs it.
#pragma once

#include <string>

namespace rankbox::cli {

struct LoadedFunction {
  void (*function)() = nullptr;  // the caller knows its real type
  std::string problem;           // why there is none, with C++ names
  const void* entry = nullptr;   // an address inside the library
};

/// Opens a library and finds its function. The library stays open.
/// @param signature of the function, for the message if it is missing
LoadedFunction load_function(const std::string& library, const std::string& signature);

}  // namespace rankbox::cli
