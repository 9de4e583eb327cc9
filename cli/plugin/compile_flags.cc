#include "cli/plugin/compile_flags.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/support/paths.h"

namespace rankbox::cli {

std::vector<std::string> compiler_words() {
  const char* chosen = std::getenv("CXX");
  std::istringstream stream(chosen == nullptr ? "" : chosen);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty()) words = {"c++"};
  return words;
}

std::vector<std::string> reading_flags() {
  return {"-std=c++20", "-pthread", "-Wall", "-Wextra", "-Wno-unused-parameter", "-I."};
}

std::vector<std::string> clang_header_flags() {
  const std::string header = "bazel/clang_source_location.h";
  if (!std::filesystem::exists(project_root() + "/" + header)) return {};
  return {"-include", header};
}

}  // namespace rankbox::cli
