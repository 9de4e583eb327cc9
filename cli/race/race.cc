#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/race/own_file.h"
#include "cli/race/race_options.h"
#include "cli/support/subcommands.h"
#include "comm/errors.h"
#include "race/race_demo.h"

namespace rankbox::cli {

void add_race(CLI::App& app) {
  auto options = std::make_shared<RaceOptions>();
  auto own = std::make_shared<OwnFileOptions>();
  CLI::App* race = app.add_subcommand("race", "shows a race condition, and three ways to fix it");
  race->footer(
      "Example:\n"
      "  ./rankbox race --threads 4 --repeats 100000 --runs 50\n"
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
    const int status = own->file.empty() ? run_race_demo(*options, stdout) : show_own_file(*own);
    if (status != 0) throw CLI::RuntimeError(status);
  });
  add_race_explorer(app);
}

}  // namespace rankbox::cli
