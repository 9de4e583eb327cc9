#include "cli/compare/yours.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/compare/plan/algorithms.h"
#include "cli/exercise/stub.h"
#include "cli/plugin/compile.h"
#include "cli/support/named_file.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "exercises/registry.h"

namespace rankbox::cli {
namespace {

/// Returns the file of an exercise that the plan compares; none if it does not.
std::optional<YourFile> file_of(const Exercise& exercise, const std::string& file,
                                const Plan& plan) {
  const auto is = collective_and_name_of(exercise.name);
  if (!is) return std::nullopt;
  const bool is_wanted = std::ranges::find(plan.collectives, is->first) != plan.collectives.end() &&
                         (plan.algorithms.empty() ||
                          std::ranges::find(plan.algorithms, is->second) != plan.algorithms.end());
  if (!is_wanted) return std::nullopt;
  return YourFile{exercise.name, is->first, is->second, file};
}

/// Parses one NAME=FILE.
YourFile your_file(const std::string& text, const Plan& plan) {
  const NamedFile named = named_file(
      "--mine", text, "write EXERCISE=FILE, like allreduce_ring=my_ring.cc, or none, or only");
  const Exercise& exercise = exercise_named(named.name);
  require_readable(named.file);
  const std::string file = std::filesystem::absolute(named.file).string();
  const auto is = collective_and_name_of(exercise.name);
  if (!is) {
    throw InvalidArgument(
        fmt::format("--mine {}: {} is not a collective, so there is nothing to compare it with; "
                    "./rankbox train takes the functions of training",
                    text, exercise.name));
  }
  if (auto found = file_of(exercise, file, plan)) return *found;
  throw InvalidArgument(fmt::format("--mine {}: this comparison leaves it out; add --collective {}",
                                    text, name_of(is->first)));
}

}  // namespace

std::vector<YourFile> your_files(const std::vector<std::string>& mine, const Plan& plan) {
  const auto has = [&](const char* word) { return std::ranges::find(mine, word) != mine.end(); };
  if (has("none")) {
    if (mine.size() > 1)
      throw InvalidArgument("--mine none leaves out all of yours: give it alone");
    return {};
  }
  std::vector<YourFile> files;
  for (const std::string& text : mine) {
    if (text == "only") continue;
    const YourFile file = your_file(text, plan);
    std::erase_if(files, [&](const YourFile& each) { return each.exercise == file.exercise; });
    files.push_back(file);
  }
  for (const Exercise& exercise : exercises()) {
    const bool is_named = std::ranges::any_of(
        files, [&](const YourFile& each) { return each.exercise == exercise.name; });
    if (is_named || !collective_and_name_of(exercise.name)) continue;
    if (!std::filesystem::exists(absolute_path(stub_path(exercise))) || is_stub(exercise)) continue;
    if (auto found = file_of(exercise, absolute_path(stub_path(exercise)), plan))
      files.push_back(*found);
  }
  return files;
}

Compilations compile_yours(const std::vector<YourFile>& files, const std::string& backend,
                           const std::string& folder) {
  Compilations compilations;
  for (const YourFile& yours : files) {
    const std::string library = fmt::format("{}/{}-{}.so", folder, yours.exercise, backend);
    const Compiled compiled = compile(*find_exercise(yours.exercise), display_path(yours.file),
                                      library, {.backend = backend, .optimize = true});
    if (compiled.is_ours) throw Error(compiled.failure->message);
    if (compiled.failure) {
      compilations.failures[yours.exercise] = {"compile", compiled.failure->message,
                                               compiled.failure->file, compiled.failure->line};
    } else {
      compilations.libraries.push_back({yours.exercise, library});
    }
  }
  return compilations;
}

}  // namespace rankbox::cli
