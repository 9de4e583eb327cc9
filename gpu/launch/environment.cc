#include "gpu/launch/environment.h"

#include <cstdlib>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/whole_number.h"

namespace rankbox::launcher {

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

std::optional<int> number_in(const Environment& environment, const std::string& name, int min,
                             int max) {
  const auto text = environment(name);
  if (!text) return std::nullopt;
  if (const auto value = parse_whole_number(*text, min, max)) return static_cast<int>(*value);
  throw InvalidArgument(fmt::format(
      "{}='{}' is not a whole number from {} to {}: correct or unset it", name, *text, min, max));
}

}  // namespace rankbox::launcher
