#include "cli/race/race_options.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/support/terminal.h"
#include "cli/support/whole_number.h"
#include "cli/support/wrap.h"

namespace rankbox::cli {

void add_race_options(CLI::App& app, RaceOptions& options) {
  app.add_option("--threads", options.threads, "half of them add 1, half subtract 1")
      ->check(whole_number(2, kMaxRaceThreads))
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "updates of each thread")
      ->check(whole_number(0, kMaxRaceRepeats))
      ->capture_default_str();
  app.add_option("--runs", options.runs, "runs of the unfixed race")
      ->check(whole_number(1, kMaxRaceRuns))
      ->capture_default_str();
  app.add_flag("--step", options.step, "wait for Enter before each line of the interleaving");
}

void fit_to_terminal(RaceOptions& options) {
  options.color = use_colour();
  options.width = terminal_width();
  options.fit = [](const std::string& line) { return fit(line); };
  options.step = options.step && isatty(STDIN_FILENO) == 1;
  options.before_run = end_if_output_is_closed;
}

}  // namespace rankbox::cli
