#include "cli/plugin/library_info.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/support/child.h"
#include "cli/support/container.h"

namespace rankbox::cli {

namespace {

/// Returns what the tool prints about the library; empty without the tool.
std::string output_about(const std::string& library, std::vector<std::string> command) {
  Container container;
  container.readable = {{library, library}};
  ChildOptions options;
  options.command = std::move(command);
  options.memory_bytes = std::int64_t{256} << 20;
  if (container_problem().empty()) options.container = &container;
  try {
    return run_child(options).output;
  } catch (const std::system_error&) {
    return "";
  }
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

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

int source_line(const std::string& library, const std::string& addresses, const std::string& file) {
  // -i: functions of the standard library that were inlined into the learner's line.
  std::vector<std::string> command = {"addr2line", "-i", "-e", library};
  std::istringstream words(addresses);
  for (std::string address; words >> address;) command.push_back(address);
  if (command.size() == 4) return 0;

  std::istringstream lines(output_about(library, std::move(command)));
  for (std::string line; std::getline(lines, line);) {  // "/path/file.cc:12 (discriminator 3)"
    const std::size_t colon = line.rfind(':');
    if (colon == std::string::npos || !same_file(line.substr(0, colon), file)) continue;
    const int number = std::atoi(line.c_str() + colon + 1);
    if (number > 0) return number;
  }
  return 0;
}

int line_of_function(const std::string& file, const std::string& function) {
  std::ifstream source(file);
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    std::size_t at = line.find(function);
    if (at == std::string::npos || line.find("//") < at || line[0] == '#') continue;
    at = line.find_first_not_of(' ', at + function.size());
    if (at != std::string::npos && line[at] == '(') return number;
  }
  return 0;
}

std::string shared_statics(const std::string& library) {
  std::vector<std::string> names;
  std::istringstream lines(output_about(library, {"nm", "-C", "-f", "sysv", library}));
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

std::string undefined_names(const std::string& library) {
  return output_about(library, {"nm", "-D", "--undefined-only", library});
}

}  // namespace rankbox::cli
