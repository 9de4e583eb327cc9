#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/picture/picture.h"
#include "cli/plugin/compile.h"
#include "cli/plugin/plugin.h"
#include "cli/plugin/verdict_report.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/subcommands.h"
#include "judge/faults.h"
#include "judge/salt.h"

namespace rankbox::cli {

namespace {

struct JudgeArguments {
  std::string name;
  std::string library;
  std::string replay;
  std::string command;
  std::string picture;
  std::string solution;
  std::string order = "any";
  std::uint64_t salt = 0;
};

Verdict judge_library(const Exercise& exercise, const JudgeArguments& options) {
  const AnyFunction function =
      load_learners_function(exercise.name, options.library, signature(exercise));
  if (!options.picture.empty())
    return draw_picture(exercise, function, picture_from_text(options.picture));

  JudgeOptions judge_options;
  judge_options.command = options.command;
  judge_options.replay = options.replay;
  judge_options.order = parse_order(options.order);
  judge_options.starting = [](const std::string& replay_line) {
    report_line("case " + replay_line);
  };
  judge_options.failing = report_failing;
  judge_options.hooks.entering = use_signal_stack;
  return judge_exercise(exercise, function, judge_options,
                        load_solution(options.solution, signature(exercise)));
}

[[noreturn]] void run(const JudgeArguments& options) {
  report_stops_to_parent();
  set_salt(options.salt);
  report_and_exit(judge_library(exercise_named(options.name), options));
}

}  // namespace

void add_judge(CLI::App& app) {
  auto options = std::make_shared<JudgeArguments>();
  CLI::App* judge = app.add_subcommand("judge", "judges a compiled exercise (for internal use)");
  judge->group("");  // hidden
  judge->add_option("name", options->name)->required();
  judge->add_option("library", options->library)->required();
  judge->add_option("--salt", options->salt);
  judge->add_option("--replay", options->replay);
  judge->add_option("--command", options->command);
  judge->add_option("--picture", options->picture);
  judge->add_option("--solution", options->solution);
  judge->add_option("--order", options->order);
  add_course(*judge);
  judge->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
