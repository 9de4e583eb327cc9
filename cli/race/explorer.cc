// The process that runs the learner's file: it looks for a schedule that goes wrong, and reports
// it.
#include <exception>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/plugin/compile.h"
#include "cli/plugin/verdict_report.h"
#include "cli/race/own_file.h"
#include "cli/support/paths.h"
#include "cli/support/subcommands.h"
#include "comm/errors.h"
#include "judge/failure_of.h"
#include "judge/faults.h"
#include "judge/race/explore_race.h"
#include "judge/race/steps_table.h"
#include "judge/stop_report.h"

namespace rankbox::cli {

namespace {

constexpr std::int64_t kBefore = 1000;

/// Small runs come first: their schedules are short.
constexpr struct {
  int threads;
  std::int64_t repeats;
} kRuns[] = {{2, 1}, {2, 2}, {4, 1}, {6, 1}, {8, 1}, {2, 1000}};

nlohmann::json result_of(const RaceRun& run, const interleave::Verdict& verdict) {
  nlohmann::json rows = nlohmann::json::array();
  for (const StepRow& row : rows_of(verdict.steps, run.before)) {
    rows.push_back({{"thread", row.thread},
                    {"what", row.what},
                    {"value", row.value},
                    {"overwrote", row.overwrote},
                    {"address", offset_of(row.code)}});
  }
  return {{"threads", run.threads},
          {"repeats", run.repeats},
          {"before", run.before},
          {"problem", verdict.problem},
          {"executions", verdict.executions},
          {"exhaustive", verdict.is_exhaustive},
          {"replay", replay_text(run, verdict.schedule)},
          {"rows", std::move(rows)}};
}

nlohmann::json explore_file(RaceFunction function, const std::string& replay) {
  RaceRun run = {.function = function, .before = kBefore};
  if (!replay.empty()) {
    const std::string schedule = parse_replay(replay, run);
    return result_of(run, replay_race(run, schedule));
  }
  int executions = 0;
  interleave::Verdict verdict;
  for (const auto& [threads, repeats] : kRuns) {
    run.threads = threads;
    run.repeats = repeats;
    verdict = explore_race(run);
    executions += verdict.executions;
    if (verdict.problem.empty()) continue;
    // Those of long runs were not recorded.
    if (verdict.steps.empty()) verdict = replay_race(run, verdict.schedule);
    break;
  }
  verdict.executions = executions;
  return result_of(run, verdict);
}

[[noreturn]] void explore(const std::string& library, const std::string& replay) {
  report_stops_to_parent();
  const auto function = reinterpret_cast<RaceFunction>(
      load_learners_function("race", library, signature(exercise_named("race"))));
  Verdict verdict = undecided("race");
  try {
    if (!can_explore(function))
      throw Error("this build of Rankbox is for a sanitizer, which cannot follow the threads");
    report_line("result " + explore_file(function, replay).dump());
  } catch (const std::exception& error) {
    verdict = failed_before_running("race", failure_of(error));
  }
  report_and_exit(verdict);
}

}  // namespace

void add_race_explorer(CLI::App& app) {
  auto library = std::make_shared<std::string>();
  auto replay = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("explore-race", "explores a race (for internal use)");
  command->group("");  // hidden
  command->add_option("library", *library)->required();
  command->add_option("--replay", *replay);
  command->callback([library, replay] { explore(*library, *replay); });
}

}  // namespace rankbox::cli
