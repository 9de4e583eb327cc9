#include "cli/race.h"

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/terminal.h"
#include "race/race_demo.h"

namespace rankbox::cli {

void add_race(CLI::App& app) {
  auto options = std::make_shared<RaceOptions>();
  CLI::App* race = app.add_subcommand("race", "shows a race condition, and three ways to mend it");
  race->footer("Example:\n  ./rankbox race --threads 4 --repeats 100000 --runs 50");
  race->add_option("--threads", options->threads, "half of them add 1, half subtract 1")
      ->capture_default_str();
  race->add_option("--repeats", options->repeats, "updates of each thread")->capture_default_str();
  race->add_option("--runs", options->runs, "runs of the unfixed race")->capture_default_str();
  race->add_flag("--step", options->step, "wait for Enter before each line of the interleaving");
  race->callback([options] {
    options->color = use_colour();
    options->width = terminal_width();
    options->step = options->step && isatty(STDIN_FILENO) == 1;
    const int status = run_race_demo(*options, stdout);
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace rankbox::cli
