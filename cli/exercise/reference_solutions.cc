#include "cli/exercise/reference_solutions.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "cli/plugin/compile.h"
#include "comm/errors.h"
#include "files/temporary_folder.h"

namespace rankbox::cli {
namespace {

struct Solution {
  std::mutex mutex;  // held while it is compiled
  std::string library;
};

/// Compiles into one folder, which lives as long as this program.
class Solutions {
 public:
  std::string library_of(const Exercise& exercise) {
    Solution& solution = solution_of(exercise.name);
    const std::lock_guard lock(solution.mutex);
    if (!solution.library.empty()) return solution.library;
    const std::string library = folder_.path(exercise.name + ".so");
    const Compiled compiled = compile(exercise, solution_path(exercise), library);
    if (compiled.failure) {
      throw Error(fmt::format("the solution of {} does not compile: {}:{}: {}", exercise.name,
                              compiled.failure->file, compiled.failure->line,
                              compiled.failure->message));
    }
    return solution.library = library;
  }

 private:
  Solution& solution_of(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return solutions_[name];
  }

  const TemporaryFolder folder_;
  std::mutex mutex_;
  std::map<std::string, Solution> solutions_;  // by the exercise's name
};

/// Returns the exercises whose functions the library names. It may name more than it calls.
std::vector<const Exercise*> named_in(const std::string& library) {
  std::ifstream file(library, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<const Exercise*> named;
  for (const Exercise& each : exercises()) {
    // The beginning of the mangled name of rankbox::NAME.
    const std::string symbol = fmt::format("_ZN7rankbox{}{}E", each.name.size(), each.name);
    if (bytes.find(symbol) != std::string::npos) named.push_back(&each);
  }
  return named;
}

/// Returns whether a submission to `exercise` has to do without this solution: it is its own, or
/// that of a later exercise of the chapter, which may do the same. (The pipelined ring of one
/// segment is the plain ring.)
bool is_refused(const Exercise& solution, const Exercise& exercise) {
  if (solution.chapter != exercise.chapter) return false;
  for (const Exercise& each : exercises()) {  // in reading order
    if (each.name == exercise.name) return true;
    if (each.name == solution.name) return false;
  }
  return true;
}

/// Returns the solution and those that it calls, which come first; none if a submission to
/// `exercise` has to do without one of them.
std::optional<std::vector<std::string>> with_called(const Exercise& solution,
                                                    const Exercise& exercise) {
  if (is_refused(solution, exercise)) return std::nullopt;
  const std::string library = reference_solution(solution);
  std::vector<std::string> libraries;
  for (const Exercise* called : named_in(library)) {
    if (called->name == solution.name) continue;
    const auto more = with_called(*called, exercise);
    if (!more) return std::nullopt;
    libraries.insert(libraries.end(), more->begin(), more->end());
  }
  libraries.push_back(library);
  return libraries;
}

}  // namespace

std::string reference_solution(const Exercise& exercise) {
  static Solutions solutions;
  return solutions.library_of(exercise);
}

std::vector<std::string> called_solutions(const Exercise& exercise, const std::string& library) {
  std::vector<std::string> all;
  for (const Exercise* called : named_in(library)) {
    const auto libraries = with_called(*called, exercise);
    if (!libraries) continue;
    for (const std::string& each : *libraries) {
      if (std::ranges::find(all, each) == all.end()) all.push_back(each);
    }
  }
  return all;
}

}  // namespace rankbox::cli
