// The linked reference solutions by name, for grading them without a compiler.
#pragma once

#include <string_view>

#include "verdict/catalog.h"

namespace rankbox::cli {

/// The solution of an exercise, to be judged as the exercise of that name; null if none is linked.
AnyFunction solution_of(std::string_view exercise);

}  // namespace rankbox::cli
