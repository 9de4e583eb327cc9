#include "cli/support/whole_number.h"

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "comm/whole_number.h"

namespace rankbox::cli {

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    if (parse_whole_number(text, least, most)) return "";
    return fmt::format("'{}' should be a whole number from {} to {}", text, least, most);
  };
  return {check, ""};
}

}  // namespace rankbox::cli
