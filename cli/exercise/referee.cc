#include "judge/seal/referee/referee.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/exercise/rank_processes.h"
#include "cli/plugin/compile.h"
#include "cli/plugin/plugin.h"
#include "cli/plugin/verdict_report.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/reserved_core.h"
#include "cli/support/subcommands.h"
#include "comm/errors.h"
#include "exercises/registry.h"
#include "judge/catalog.h"
#include "judge/judge.h"
#include "judge/salt.h"
#include "judge/seal/place_table.h"
#include "judge/stop_report.h"
#include "judge/verdict.h"

namespace rankbox::cli {

namespace {

struct Options {
  std::string name;
  std::vector<std::string> libraries;
  std::string replay;
  std::string command;
  std::string solution;
  std::vector<std::string> files;  // that the libraries were compiled from
  std::uint64_t salt = 0;
  int core = -1;  // for the referee and the ranks; -1: all of them
};

/// Of the threads of `race`, each a request of some microseconds.
constexpr std::int64_t kMostUpdates = 10'000;

/// Returns a sample: of every world size the first and the last case, every case with a value of an
/// argument that none before it had, and one in ten of the others. All have been judged in threads;
/// a program that deceived that judge cannot know which ones are judged again, for they depend on
/// the salt.
std::vector<Case> sample_of(const std::vector<Case>& cases) {
  std::mt19937_64 random(salt());
  std::vector<Case> sample;
  std::set<std::string> seen;  // "count=4"
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].threads.value_or(0) * cases[i].repeats.value_or(0) > kMostUpdates) continue;
    bool is_chosen = random() % 10 == 0;
    std::istringstream values(to_string(cases[i]));
    for (std::string value; std::getline(values, value, ',');)
      is_chosen = seen.insert(value).second || is_chosen;
    const auto differs = [&](std::size_t other) {
      return other >= cases.size() || cases[other].world_size != cases[i].world_size;
    };
    if (is_chosen || differs(i - 1) || differs(i + 1)) sample.push_back(cases[i]);
  }
  return sample;
}

/// Returns the ranks of the largest world that will be judged.
int most_ranks(const Subject& subject, const std::string& replay) {
  int most = 1;
  for (const Case& example : subject.cases()) most = std::max(most, example.world_size);
  if (!replay.empty()) most = replayed_case(replay, cases_to_replay(subject)).world_size;
  return most;
}

/// Returns whether the function starts threads. They need several cores to show a race.
bool has_threads(const std::vector<Case>& cases) {
  return std::ranges::any_of(cases, [](const Case& c) { return c.threads.has_value(); });
}

void report_asked(const Stop& stop) {
  report_line(
      fmt::format("stopped asked {} rank {} at {}", stop.number, stop.rank, stop.addresses));
}

/// Places lie in what was compiled, or in what comes with the project.
void set_files(std::vector<std::string> files) {
  if (files.empty()) return;
  for (const Exercise& each : registry().exercises) {
    files.push_back(solution_path(each));
    files.push_back(header_path(each));
  }
  seal::set_files(std::move(files));
}

[[noreturn]] void run(const Options& options) {
  set_salt(options.salt);
  set_files(options.files);
  seal::set_asked_hook(report_asked);
  const Exercise& exercise = exercise_named(options.name);
  const AnyFunction sealed = seal::sealed_function(exercise.family);
  if (sealed == nullptr)
    throw Error("judge/seal/signatures.h has no row for the family " + exercise.family);
  Subject subject =
      subject_of(exercise, sealed, load_solution(options.solution, signature(exercise)));
  std::vector<Case> sample = sample_of(subject.cases());
  if (options.core >= 0 && !has_threads(sample)) pin_to_core(options.core);
  sample.insert(sample.end(), subject.large_cases.begin(), subject.large_cases.end());
  subject.cases = [sample = std::move(sample)] { return sample; };
  // A process for each of so many ranks would take as long as the rest.
  if (options.replay.empty()) subject.far_cases = nullptr;
  if (!subject.large_cases.empty()) seal::count_memory_of_ranks();
  subject.large_cases.clear();  // they are among the cases now

  std::optional<RankProcesses> processes;
  try {
    processes.emplace(exercise.family, most_ranks(subject, options.replay), options.libraries);
    seal::await_ranks();
  } catch (const std::exception& error) {  // this machine prevents a verdict
    report_and_exit(error_of_ours(exercise.name, error.what()));
  }
  JudgeOptions judge_options;
  judge_options.command = options.command;
  judge_options.replay = options.replay;
  judge_options.starting = [](const std::string& replay_line) {
    report_line("case " + replay_line);
  };
  // The ranks' processes wait only for replies, so one thread can serve them all. It serves them in
  // the same order in every run, and needs no wake-ups between threads.
  judge_options.executor = ExecutorKind::kFibers;
  judge_options.fiber_threads = 1;
  judge_options.hooks.leaving = seal::end_case;
  judge_options.explains = false;  // each case starts a process for every rank
  const Verdict verdict = judge(exercise.name, subject, judge_options);
  if (verdict.failure && verdict.failure->line == 0) {
    const std::string where = seal::where_stopped(verdict.failure->rank);
    if (!where.empty()) report_line("at " + where);
  }
  report_and_exit(verdict);
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
  referee->add_option("--file", options->files);
  referee->add_option("--salt", options->salt);
  referee->add_option("--core", options->core);
  add_course(*referee);
  referee->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
