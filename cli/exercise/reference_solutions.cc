#include "cli/exercise/reference_solutions.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "cli/plugin/compile.h"
#include "cli/plugin/library_info.h"
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

/// Adds the exercises whose functions a submission may call, each after those that it calls.
void add_callable(const Exercise& exercise, std::vector<const Exercise*>& all) {
  for (const std::string& name : exercise.calls) {
    const Exercise* const called = find_exercise(name);
    if (called == nullptr || std::ranges::find(all, called) != all.end()) continue;
    add_callable(*called, all);
    all.push_back(called);
  }
}

std::vector<const Exercise*> callable_from(const Exercise& exercise) {
  std::vector<const Exercise*> all;
  add_callable(exercise, all);
  return all;
}

}  // namespace

std::string reference_solution(const Exercise& exercise) {
  static Solutions solutions;
  return solutions.library_of(exercise);
}

std::vector<std::string> callable_solutions(const Exercise& exercise) {
  std::vector<std::string> libraries;
  for (const Exercise* each : callable_from(exercise))
    libraries.push_back(reference_solution(*each));
  return libraries;
}

std::string forbidden_call(const Exercise& exercise, const std::string& library) {
  const std::vector<const Exercise*> callable = callable_from(exercise);
  const std::string undefined = undefined_names(library);  // without nm: the loader finds them
  for (const Exercise& each : exercises()) {
    if (std::ranges::find(callable, &each) != callable.end()) continue;
    // The beginning of the mangled name of rankbox::NAME.
    const std::string symbol = fmt::format(" _ZN7rankbox{}{}E", each.name.size(), each.name);
    if (undefined.find(symbol) != std::string::npos) return each.name;
  }
  return "";
}

}  // namespace rankbox::cli
