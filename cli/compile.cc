#include "cli/compile.h"

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/child.h"
#include "cli/paths.h"
#include "cli/precompiled.h"

namespace rankbox::cli {

namespace {

constexpr double kSeconds = 60;
constexpr std::int64_t kMemory = std::int64_t{4} << 30;  // for templates gone wild

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> command(const Exercise& exercise, const std::string& source,
                                 const std::string& library) {
  const char* chosen = std::getenv("CXX");
  std::vector<std::string> words = words_of(chosen == nullptr ? "" : chosen);
  if (words.empty()) words = {"c++"};
  // -g1: line numbers, and no more than that to write.
  for (const char* word :
       {"-std=c++20", "-O1", "-g1", "-fPIC", "-pthread", "-Wall", "-Wextra",
        "-Wno-unused-parameter", "-fdiagnostics-color=never", "-fmax-errors=5", "-I."}) {
    words.emplace_back(word);
  }
  const std::string contract = precompiled_contract(words);
  if (!contract.empty()) words.insert(words.end(), {"-include", contract});
  // Calls of the learner's own functions stay in the library, even if the process has others of the
  // same name.
  words.insert(words.end(), {"-shared", "-Wl,-Bsymbolic-functions"});
  // Older clangs need it to find the lines of calls; it is empty for all other compilers.
  const std::string clang_header = "bazel/clang_source_location.h";
  if (std::filesystem::exists(project_root() + "/" + clang_header)) {
    words.insert(words.end(), {"-include", clang_header});
  }
  words.insert(words.end(), {"-include", "cli/exercise_entry.h"});
  words.push_back(fmt::format("-DRANKBOX_EXERCISE={}", exercise.name));
  words.push_back(fmt::format("-DRANKBOX_EXERCISE_HEADER=\"{}\"", contract_path(exercise)));
  for (const std::string& word : {std::string("-o"), library, std::string("-xc++"), source}) {
    words.push_back(word);
  }
  return words;
}

// "file.cc:12:3: error: message". The linker writes "file.cc:12: undefined …" instead.
Failure first_error(const std::string& output) {
  static const std::regex pattern("^(.+?):([0-9]+):(?:[0-9]+:)? (?:fatal )?error: (.*)$");
  Failure failure;
  failure.kind = FailureKind::kCompile;
  std::istringstream lines(output);
  std::string first_line;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, pattern)) {
      failure.file = display_path(match[1]);
      failure.line = std::atoi(match[2].str().c_str());
      failure.message = match[3];
      return failure;
    }
    if (first_line.empty() && line.find("error") != std::string::npos) first_line = line;
  }
  failure.message = first_line.empty() ? "the compiler refuses this file" : first_line;
  return failure;
}

}  // namespace

std::string signature(const Exercise& exercise) {
  return fmt::format("void rankbox::{}{}", exercise.name, exercise.parameters);
}

Compiled compile(const Exercise& exercise, const std::string& source, const std::string& library) {
  ChildOptions options;
  options.command = command(exercise, source, library);
  options.directory = project_root();
  options.seconds = kSeconds;
  options.memory_bytes = kMemory;
  options.file_bytes = std::int64_t{1} << 28;

  Compiled compiled;
  ChildResult result;
  try {
    result = run_child(options);
  } catch (const std::system_error& error) {
    compiled.compiler_missing = true;
    compiled.failure = Failure{};
    compiled.failure->kind = FailureKind::kCompile;
    compiled.failure->message =
        fmt::format("{}: install g++, or set CXX to a C++20 compiler", error.what());
    return compiled;
  }
  compiled.output = std::move(result.output);
  if (result.status == 0) return compiled;

  compiled.failure = first_error(compiled.output);
  if (result.timed_out) {
    compiled.failure->message = fmt::format("the compiler was not done after {} s", kSeconds);
  }
  if (compiled.failure->file.empty()) compiled.failure->file = display_path(source);
  return compiled;
}

}  // namespace rankbox::cli
