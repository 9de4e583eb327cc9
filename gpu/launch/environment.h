// Environment variables: the process's own, or a table in a test.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace rankbox::launcher {

/// Returns the value of a variable, or nothing if it is unset.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Returns this process's environment. Empty values count as unset.
Environment process_environment();

/// Returns the integer that a variable holds, or nothing if it is unset.
/// Throws InvalidArgument with the variable, its value and the range for anything else.
std::optional<int> number_in(const Environment& environment, const std::string& name, int min,
                             int max);

}  // namespace rankbox::launcher
