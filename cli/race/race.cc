#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/race/own_file.h"
#include "cli/support/options.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"
#include "judge/race/race_demo.h"

namespace rankbox::cli {
namespace {

void add_race_options(CLI::App& app, RaceOptions& options) {
  app.add_option("--threads", options.threads, "half of them add, half subtract")
      ->check(whole_number(2, kMaxRaceThreads))
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "updates of each thread")
      ->check(whole_number(0, kMaxRaceRepeats))
      ->capture_default_str();
  app.add_option("--amount", options.amount, "what each update adds or subtracts")
      ->check(whole_number(1, kMaxRaceAmount))
      ->capture_default_str();
  app.add_option(
         "--delay", options.delay,
         "nanoseconds between a thread's load and its store; with many, give fewer --repeats")
      ->check(whole_number(0, kMaxRaceDelay))
      ->capture_default_str();
  app.add_option("--runs", options.runs, "runs of the unfixed race")
      ->check(whole_number(1, kMaxRaceRuns))
      ->capture_default_str();
  app.add_flag("--step", options.step, "wait for Enter before each line of the interleaving");
}

/// Throws InvalidArgument if the delays take longer than a user would wait for the demo.
void check_delays(const RaceOptions& options) {
  constexpr double kMostSeconds = 60;
  // In floating point, because the product may overflow 64 bits.
  const double seconds = 1e-9 * static_cast<double>(options.delay) *
                         static_cast<double>(options.repeats) * options.runs * options.threads;
  if (seconds <= kMostSeconds) return;
  throw InvalidArgument(fmt::format(
      "--delay {} with --repeats {}, --runs {} and --threads {}: the delays add up to {:.0f} s, "
      "expected {} at most: give fewer --repeats or --runs",
      options.delay, options.repeats, options.runs, options.threads, std::ceil(seconds),
      kMostSeconds));
}

/// Sets the options that depend on the terminal: colour, width, whether a user can press Enter, and
/// that the demo ends when its output is no longer read.
void fit_to_terminal(RaceOptions& options) {
  options.color = use_colour();
  options.width = terminal_width();
  options.fit = [](const std::string& line) { return fit(line); };
  options.step = options.step && isatty(STDIN_FILENO) == 1;
  options.before_run = end_if_output_is_closed;
}

}  // namespace

void add_race(CLI::App& app) {
  auto options = std::make_shared<RaceOptions>();
  auto own = std::make_shared<OwnFileOptions>();
  CLI::App* race = app.add_subcommand("race", "shows a race condition, and three ways to fix it");
  race->footer(
      "Example:\n"
      "  ./rankbox race --threads 4 --repeats 100000 --runs 50\n"
      "  ./rankbox race --repeats 1000 --amount 5 --delay 1000\n"
      "  ./rankbox race exercises/01_ranks_and_races/race.cc --step    how your file loses one\n"
      "With FILE, nothing is left to luck: all schedules of small runs are tried, and fixed ones\n"
      "of longer runs. It prints the steps of one that goes wrong, and exits with 1; else with 0.");
  race->add_option("file", own->file, "your file of the exercise race; without it, the demo")
      ->type_name("FILE");
  add_race_options(*race, *options);
  race->add_option("--replay", own->replay, "with FILE: this schedule, as a failure names it")
      ->type_name("SCHEDULE");
  race->callback([options, own] {
    fit_to_terminal(*options);
    own->step = options->step;
    if (own->file.empty() && !own->replay.empty())
      throw InvalidArgument("--replay is for a file: ./rankbox race FILE --replay " + own->replay);
    if (own->file.empty()) check_delays(*options);
    const int status = own->file.empty() ? run_race_demo(*options, stdout) : show_own_file(*own);
    if (status != 0) throw CLI::RuntimeError(status);
  });
  add_race_explorer(app);
}

}  // namespace rankbox::cli
