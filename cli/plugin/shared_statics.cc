#include "cli/plugin/shared_statics.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <sstream>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/support/child.h"
#include "cli/support/container.h"

namespace rankbox::cli {

namespace {

constexpr std::size_t kMostNames = 3;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  const std::size_t end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

/// Returns whether the name is a variable of a user, and not of the compiler, a library or a type.
bool is_variable(const std::string& symbol, const std::string& name) {
  if (symbol.starts_with("guard variable") || symbol.starts_with("std::")) return false;
  if (symbol.find(" for ") != std::string::npos) return false;  // "vtable for X"
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  if (name.empty() || name.front() == '_' || !std::ranges::all_of(name, is_letter)) return false;
  return !(name.size() > 1 && name[0] == 'k' && std::isupper(name[1]) != 0);
}

}  // namespace

std::string shared_statics(const std::string& library) {
  // A name may be short and its C++ form gigabytes long.
  Container container;
  container.readable = {{library, library}};
  ChildOptions options;
  options.command = {"nm", "-C", "-f", "sysv", library};
  options.memory_bytes = std::int64_t{256} << 20;
  if (container_problem().empty()) options.container = &container;
  std::string output;
  try {
    output = run_child(options).output;
  } catch (const std::system_error&) {
    return "";  // no nm: the verdict says less
  }
  std::vector<std::string> names;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    // "rankbox::f(int)::last|000000000000517c|   b  |            OBJECT|…|     |.bss"
    std::istringstream columns(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(columns, field, '|');) fields.push_back(trimmed(field));
    if (fields.size() < 4 || fields[3] != "OBJECT" || fields[2].size() != 1) continue;
    if (std::string("bBdD").find(fields[2]) == std::string::npos) continue;
    const std::size_t colons = fields[0].rfind("::");
    const std::string name = colons == std::string::npos ? fields[0] : fields[0].substr(colons + 2);
    if (is_variable(fields[0], name) && names.size() < kMostNames) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace rankbox::cli
