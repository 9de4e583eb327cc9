#include "cli/judge.h"

#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/compile.h"
#include "cli/course.h"
#include "cli/paths.h"
#include "cli/picture.h"
#include "cli/plugin.h"
#include "cli/stop_report.h"
#include "comm/errors.h"
#include "verdict/verdict_json.h"

namespace rankbox::cli {

namespace {

struct Options {
  std::string name;
  std::string library;
  std::string replay;
  std::string command;
  std::string picture;
  std::string solution;
};

void report_line(const std::string& line) {
  const std::string whole = line + "\n";
  for (std::size_t sent = 0; sent < whole.size();) {
    const ssize_t wrote = write(kReportFd, whole.data() + sent, whole.size() - sent);
    if (wrote <= 0) _exit(1);  // nobody listens any more
    sent += static_cast<std::size_t>(wrote);
  }
}

/// The reference solution, for exercises whose cost is what it costs.
AnyFunction load_solution(const Exercise& exercise, const std::string& library) {
  if (library.empty()) return nullptr;
  const LoadedFunction loaded = load_function(library, signature(exercise));
  if (loaded.function == nullptr) {
    throw Error("cannot load the solution: " + loaded.problem);
  }
  return loaded.function;
}

Verdict judge_library(const Exercise& exercise, const Options& options) {
  const LoadedFunction loaded = load_function(options.library, signature(exercise));
  set_library(loaded.entry);
  if (loaded.function == nullptr) {
    Failure failure;
    failure.kind = FailureKind::kCompile;
    failure.message = loaded.problem;
    return failed_before_running(exercise.name, failure);
  }
  if (!options.picture.empty()) {
    return draw_picture(exercise, loaded.function, picture_from_text(options.picture));
  }

  JudgeOptions judge_options;
  judge_options.command = options.command;
  judge_options.replay = options.replay;
  judge_options.starting = [](const std::string& replay_line) {
    report_line("case " + replay_line);
  };
  judge_options.entering = use_signal_stack;
  return judge_exercise(exercise, loaded.function, judge_options,
                        load_solution(exercise, options.solution));
}

[[noreturn]] void run(const Options& options) {
  report_stops();
  const Verdict verdict = judge_library(exercise_named(options.name), options);
  if (verdict.failure && verdict.failure->line == 0) {
    const std::string thrown = last_throw_of(verdict.failure->rank);
    if (!thrown.empty()) report_line("thrown " + thrown);
  }
  report_line("verdict " + to_json(verdict));
  done_reporting();
  // Threads that the learner left behind may still run: no destructors under their feet.
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace

void add_judge(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* judge = app.add_subcommand("judge", "judges a compiled exercise (for internal use)");
  judge->group("");  // hidden
  judge->add_option("name", options->name)->required();
  judge->add_option("library", options->library)->required();
  judge->add_option("--replay", options->replay);
  judge->add_option("--command", options->command);
  judge->add_option("--picture", options->picture);
  judge->add_option("--solution", options->solution);
  add_course(*judge);
  judge->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
