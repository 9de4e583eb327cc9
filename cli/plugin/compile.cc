#include "cli/plugin/compile.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/plugin/compile_container.h"
#include "cli/plugin/compile_flags.h"
#include "cli/plugin/compiler_message.h"
#include "cli/plugin/precompiled.h"
#include "cli/support/child.h"
#include "cli/support/container.h"
#include "cli/support/paths.h"
#include "files/remove_tree.h"
#include "files/temporary_folder.h"
#include "judge/interleave/symbols.h"

namespace rankbox::cli {

namespace {

constexpr std::string_view kHelpers[] = {".h", ".hpp", ".hh", ".inc"};
constexpr double kSeconds = 30;
constexpr std::int64_t kMemory = std::int64_t{2} << 30;  // limits runaway templates

/// The parts of a library: a function, and the header that declares it.
struct Unit {
  std::string function;
  std::string header;
  std::string source;
  bool is_contained = true;    // its compiler
  bool is_controlled = false;  // its threads run under the scheduler of judge/interleave/
};

/// Hides all symbols of a library except its entry and its function: a helper must not replace
/// another library's function of the same name.
std::string write_symbol_list(const Unit& unit, const std::string& library) {
  std::string path = library + ".symbols";
  std::ofstream(path) << fmt::format(
      "{{ global: rankbox_exercise; rankbox_is_controlled; _ZN7rankbox{}{}E*; local: *; }};\n",
      unit.function.size(), unit.function);
  return path;
}

/// Returns the compiler and the flags on which a precompiled header depends.
std::vector<std::string> compiler_and_flags(const CompileOptions& options) {
  std::vector<std::string> words = compiler_words();
  for (const std::string& word : reading_flags()) words.push_back(word);
  // -g1: line numbers only, which is fast to write.
  for (const char* word : {"-g1", "-fPIC", "-fdiagnostics-color=never", "-fmax-errors=5"})
    words.emplace_back(word);
  words.emplace_back(options.optimize ? "-O2" : "-O1");
  if (options.backend == "mpi") words.emplace_back("-DRANKBOX_BACKEND_MPI");
  if (options.backend == "nccl") {
    for (const char* word : {"-DRANKBOX_BACKEND_NCCL", "-DRANKBOX_ELEMENTS_ARE_REMOTE"})
      words.emplace_back(word);
  }
  if (!registry().folder.empty()) words.push_back("-I" + registry().folder);
  return words;
}

/// Lets the compiler report accesses of memory, and replaces the functions with which threads start
/// and wait. No library of the compiler's own is needed for it; those of C and C++ are named, and
/// what they need is in the program.
std::vector<std::string> control(const std::string& library) {
  const std::string path = library + ".wrapped";
  std::ofstream list(path);
  for (const char* name : interleave::kWrapped) list << "--wrap=" << name << "\n";
  return {"-DRANKBOX_IS_CONTROLLED", "-fsanitize=thread", "-nodefaultlibs", "-Wl,@" + path};
}

std::vector<std::string> command(const Unit& unit, const std::string& library,
                                 const Precompiled& precompiled, const CompileOptions& options) {
  std::vector<std::string> words = compiler_and_flags(options);
  // That of all other exercises was compiled without these flags.
  const std::string contract = unit.is_controlled ? "" : precompiled.contract;
  if (!contract.empty()) words.insert(words.end(), {"-include", contract});
  // Calls of the learner's own functions stay in the library, even if the process has others of the
  // same name.
  words.insert(words.end(), {"-shared", "-Wl,-Bsymbolic-functions",
                             "-Wl,--version-script=" + write_symbol_list(unit, library)});
  for (const std::string& word : clang_header_flags()) words.push_back(word);
  words.insert(words.end(), {"-include", "cli/plugin/exercise_entry.h"});
  words.push_back(fmt::format("-DRANKBOX_EXERCISE={}", unit.function));
  words.push_back(fmt::format("-DRANKBOX_EXERCISE_HEADER=\"{}\"", unit.header));
  // A name that begins with - would be parsed as an option, one with @ as a file of options.
  const std::string path = std::filesystem::path(unit.source).lexically_normal();
  const bool is_path = !path.starts_with('-') && !path.starts_with('@');
  const std::string source = is_path ? path : "./" + path;
  for (const std::string& word : {std::string("-o"), library, std::string("-xc++"), source}) {
    words.push_back(word);
  }
  if (unit.is_controlled) {
    const std::vector<std::string> more = control(library);
    words.insert(words.end(), more.begin(), more.end());
    for (const char* word : {"-xnone", "-lstdc++", "-lm", "-lc"}) words.emplace_back(word);
  }
  return words;
}

/// Returns the compiler's line about a disk that is full or read-only; empty if it wrote none.
std::string disk_problem_in(const std::string& output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(' ')) continue;  // of the source, which the compiler quotes
    for (const int problem : {ENOSPC, EDQUOT, EROFS}) {
      if (line.find(std::strerror(problem)) != std::string::npos) return line;
    }
  }
  return "";
}

Compiled cannot_compile(const std::string& why) {
  return {Failure{.kind = FailureKind::kCompile, .message = why}, /*is_ours=*/true, ""};
}

/// The folder that a compiler writes to, next to the library. The destructor removes it.
class OutputFolder {
 public:
  explicit OutputFolder(const std::string& library) : path_(library + ".d") {
    std::filesystem::create_directories(path_);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder() { remove_tree(path_); }
  std::string path(const char* file) const { return path_ + "/" + file; }

 private:
  std::string path_;
};

/// Returns whether an error of this source's compilation can lie in the file. #line may claim any.
bool may_name(const std::string& source, const std::string& file) {
  const std::string normal = std::filesystem::path(file).lexically_normal();
  if (std::ranges::count(source_files(source), normal) > 0) return true;
  const bool may_be_header = normal.starts_with('/') || normal.ends_with(".h");
  return may_be_header && std::filesystem::exists(absolute_path(file));
}

Compiled compile_unit(const Unit& unit, const std::string& library, const CompileOptions& chosen) {
  check_has_space(std::filesystem::path(library).parent_path());
  const OutputFolder folder(library);
  const std::string output = folder.path("library.so");
  Precompiled precompiled = precompiled_contract(compiler_and_flags(chosen));
  ChildOptions options;
  options.command = command(unit, output, precompiled, chosen);
  options.directory = project_root();
  options.temporary = folder.path("");  // a killed compiler leaves files behind
  options.seconds = kSeconds;
  options.memory_bytes = kMemory;
  options.file_bytes = std::int64_t{1} << 28;

  Compiled compiled;
  ChildResult result;
  try {
    if (unit.is_contained) {
      if (precompiled.headers.empty()) {
        precompiled.headers = folder.path("headers");
        copy_public_headers(precompiled.headers);
      }
      result = run_compiler(
          options, {absolute_path(unit.source), folder.path(""), precompiled, registry().folder});
    } else {
      result = run_child(options);
    }
  } catch (const std::system_error& error) {
    return cannot_compile(
        fmt::format("{}: install g++, or set CXX to a C++20 compiler", error.what()));
  }
  compiled.output = std::move(result.output);
  if (result.status == 0) {
    std::filesystem::rename(output, library);
    return compiled;
  }

  const std::string problem = disk_problem_in(compiled.output);
  // In a container, the full disk may be the container's own.
  if (!problem.empty() && unit.is_contained) check_has_space(folder.path(""));
  if (!problem.empty() && (!unit.is_contained || !container_problem().empty()))
    return cannot_compile(fmt::format("{}: make room, or set TMPDIR to another folder", problem));
  compiled.failure = failure_in(compiled.output);
  std::string& file = compiled.failure->file;
  const bool is_foreign = unit.is_contained && !may_name(unit.source, file);
  if (file.empty() || is_foreign) file = unit.source;
  file = display_path(file);
  if (result.timed_out) {
    compiled.failure->message = fmt::format("the compiler was not done after {} s", kSeconds);
  }
  return compiled;
}

}  // namespace

bool is_helper(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return std::ranges::count(kHelpers, ending) > 0;
}

std::vector<std::string> source_files(const std::string& source) {
  const std::filesystem::path path = std::filesystem::path(source).lexically_normal();
  std::vector<std::string> files = {path.string()};
  std::error_code ignored;
  const std::string folder = std::filesystem::path(absolute_path(source)).parent_path();
  for (const std::filesystem::directory_entry& file :
       std::filesystem::directory_iterator(folder, ignored)) {
    if (files.size() > kMostHelpers) break;
    if (is_helper(file.path().string()))
      files.push_back((path.parent_path() / file.path().filename()).string());
  }
  return files;
}

Verdict verdict_of(const std::string& name, const Compiled& compiled) {
  Verdict verdict = failed_before_running(name, *compiled.failure);
  if (compiled.is_ours) verdict.status = Status::kError;
  return verdict;
}

std::string signature(const Exercise& exercise) {
  return fmt::format("void rankbox::{}{}", exercise.name, parameters_of(exercise));
}

Compiled compile(const Exercise& exercise, const std::string& source, const std::string& library,
                 const CompileOptions& options) {
  const bool has_threads = exercise.family == "race" && options.backend == "sim";
  return compile_unit({.function = exercise.name,
                       .header = contract_path(exercise),
                       .source = source,
                       .is_controlled = has_threads},
                      library, options);
}

Compiled compile_program(const std::string& source, const std::string& library,
                         const CompileOptions& options) {
  return compile_unit({"rank_main", "cli/rank_main.h", source, false}, library, options);
}

}  // namespace rankbox::cli
