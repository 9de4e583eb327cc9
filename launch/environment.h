// Where variables are looked up: the process's own environment, or a table in a test.
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace rankbox::launcher {

/// The value of a variable; nothing where it is unset. Empty values count as unset.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

inline Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

}  // namespace rankbox::launcher
