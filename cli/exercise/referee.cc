#include "cli/exercise/referee.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/exercise/rank_processes.h"
#include "cli/plugin/compile.h"
#include "cli/plugin/plugin.h"
#include "cli/plugin/verdict_report.h"
#include "cli/support/course.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "seal/referee/referee.h"
#include "verdict/catalog.h"

namespace rankbox::cli {

namespace {

struct Options {
  std::string name;
  std::vector<std::string> libraries;
  std::string replay;
  std::string command;
  std::string solution;
};

/// Returns the ranks of the largest world that will be judged.
int most_ranks(const Exercise& exercise, const std::string& replay) {
  if (!replay.empty()) return parse_case(replay, first_case_of(exercise)).world_size;
  int most = 1;
  for (const Case& example : subject_of(exercise).cases())
    most = std::max(most, example.world_size);
  return most;
}

[[noreturn]] void run(const Options& options) {
  const Exercise& exercise = exercise_named(options.name);
  const RankProcesses processes(exercise.family, most_ranks(exercise, options.replay),
                                options.libraries);
  JudgeOptions judge_options;
  judge_options.command = options.command;
  judge_options.replay = options.replay;
  judge_options.starting = [](const std::string& replay_line) {
    report_line("case " + replay_line);
  };
  AnyFunction solution = nullptr;
  if (!options.solution.empty()) {
    const LoadedFunction loaded = load_function(options.solution, signature(exercise));
    if (loaded.function == nullptr) throw Error("cannot load the solution: " + loaded.problem);
    solution = loaded.function;
  }
  report_and_exit(judge_exercise(exercise, seal::sealed_function(exercise.family), judge_options,
                                 solution));
}

}  // namespace

void add_referee(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* referee =
      app.add_subcommand("referee", "judges ranks that are processes (for internal use)");
  referee->group("");  // hidden
  referee->add_option("name", options->name)->required();
  referee->add_option("libraries", options->libraries)->required();
  referee->add_option("--replay", options->replay);
  referee->add_option("--command", options->command);
  referee->add_option("--solution", options->solution);
  add_course(*referee);
  referee->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
