#include "cli/exercise/exercise_file.h"

#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/support/paths.h"
#include "cli/support/programs.h"
#include "comm/errors.h"
#include "judge/families.h"

namespace rankbox::cli {

void add_exercise_file(CLI::App& command, ExerciseFile& options, const std::string& verb) {
  command.add_option("name", options.name, "an exercise (./rankbox list), its file or its header")
      ->required()
      ->type_name("NAME");
  command.add_flag("--solution", options.solution, verb + " the solution instead");
  command.add_option("--file", options.file, verb + " this source file instead")->type_name("F");
  command
      .add_option("--timeout", options.seconds,
                  fmt::format("seconds it may run (default {:g})", options.seconds))
      ->type_name("S");
}

void require_judge(const Exercise& exercise) {
  if (find_family(exercise.family) == nullptr) use_rankbox_more();
}

std::string path_of(const ExerciseFile& options, const Exercise& exercise) {
  if (options.solution && !options.file.empty()) {
    throw InvalidArgument("--solution and --file exclude each other: which one is meant?");
  }
  if (!(options.seconds > 0) || options.seconds > 3600) {
    throw InvalidArgument(fmt::format(
        "--timeout {:g} should be more than 0 and at most 3600 seconds", options.seconds));
  }
  if (!options.file.empty()) return options.file;
  if (options.solution) return absolute_path(solution_path(exercise));
  const bool is_path = options.name.find('/') != std::string::npos;
  // An editor passes what is open: for a header, its exercise is meant.
  const bool is_source = is_path && !options.name.ends_with(".h");
  if (is_source && std::filesystem::exists(options.name)) return options.name;
  if (is_path && options.name.ends_with(".cc"))
    throw InvalidArgument(fmt::format("there is no file {}", options.name));
  return absolute_path(stub_path(exercise));
}

}  // namespace rankbox::cli
