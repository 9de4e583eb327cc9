#include "cli/support/whole_number.h"

#include <charconv>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rankbox::cli {

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= least && value <= most) return "";
    return fmt::format("'{}' should be a whole number from {} to {}", text, least, most);
  };
  return {check, ""};
}

}  // namespace rankbox::cli
