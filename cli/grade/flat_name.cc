#include "cli/grade/flat_name.h"

#include <cstddef>
#include <regex>

namespace rankbox::cli {

std::optional<FlatName> parse_flat(const std::string& stem) {
  const std::size_t at = stem.rfind("__");
  if (at == std::string::npos || at == 0) return std::nullopt;
  return FlatName{stem.substr(0, at), "", stem.substr(at + 2)};
}

std::optional<FlatName> parse_canvas(const std::string& stem) {
  static const std::regex pattern("^(.+?)(_LATE)?_([0-9]+)_([0-9]+)_(.+?)(?:-([0-9]{1,6}))?$");
  std::smatch match;
  if (!std::regex_match(stem, match, pattern)) return std::nullopt;
  return FlatName{match[1], match[3], match[5], match[6].matched ? std::stoi(match[6]) : 0,
                  match[2].matched};
}

}  // namespace rankbox::cli
