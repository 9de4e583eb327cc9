#include "launch/environment.h"

#include <charconv>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "comm/errors.h"

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
  int value = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error == std::errc() && stop == end && value >= min && value <= max) return value;
  throw InvalidArgument(fmt::format(
      "{}='{}' is not a whole number from {} to {}: correct or unset it", name, *text, min, max));
}

}  // namespace rankbox::launcher
