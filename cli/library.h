// A learner's function, compiled to a library, in the process that runs it.
#pragma once

#include <string>

#include "verdict/catalog.h"

namespace rankbox::cli {

struct LoadedFunction {
  AnyFunction function = nullptr;
  std::string problem;  // why there is none, in a learner's words
};

/// Opens a library made by compile() and finds the exercise's function in it. It stays open.
LoadedFunction load_function(const Exercise& exercise, const std::string& library);

}  // namespace rankbox::cli
