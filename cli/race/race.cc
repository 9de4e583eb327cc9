#include "cli/race/race.h"

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/race/race_options.h"
#include "race/race_demo.h"

namespace rankbox::cli {

void add_race(CLI::App& app) {
  auto options = std::make_shared<RaceOptions>();
  CLI::App* race = app.add_subcommand("race", "shows a race condition, and three ways to fix it");
  race->footer("Example:\n  ./rankbox race --threads 4 --repeats 100000 --runs 50");
  add_race_options(*race, *options);
  race->callback([options] {
    fit_to_terminal(*options);
    const int status = run_race_demo(*options, stdout);
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace rankbox::cli
