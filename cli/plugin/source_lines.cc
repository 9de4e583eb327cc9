#include "cli/plugin/source_lines.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "cli/support/child.h"
#include "cli/support/container.h"

namespace rankbox::cli {

namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

}  // namespace

SourceLine source_line(const std::string& library, const std::string& addresses,
                       const std::string& file) {
  ChildOptions options;
  // -i: functions of the standard library that were inlined into the learner's line.
  options.command = {"addr2line", "-i", "-e", library};
  std::istringstream words(addresses);
  for (std::string address; words >> address;) options.command.push_back(address);
  if (options.command.size() == 4) return {};

  Container container;
  container.readable = {{library, library}};
  if (container_problem().empty()) options.container = &container;
  std::string output;
  try {
    output = run_child(options).output;
  } catch (const std::system_error&) {
    return {};  // no addr2line: the verdict has no line
  }
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {  // "/path/file.cc:12 (discriminator 3)"
    const std::size_t colon = line.rfind(':');
    if (colon == std::string::npos || !same_file(line.substr(0, colon), file)) continue;
    const int number = std::atoi(line.c_str() + colon + 1);
    if (number > 0) return {file, number};
  }
  return {};
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

}  // namespace rankbox::cli
