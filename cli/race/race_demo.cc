// race_demo: the race-condition demo on the command line.
//
// Ctrl-C needs no handler: there is nothing to clean up (see run_race_demo).
#include "race/race_demo.h"

#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/race/race_options.h"
#include "cli/support/complain.h"
#include "comm/errors.h"

int main(int argc, char** argv) {
  rankbox::RaceOptions options;
  CLI::App app(
      "Threads add to and subtract from one shared value: the race, its three fixes, and why.");
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("race_demo: {} (see race_demo --help)\n", error.what());
  });
  try {
    rankbox::cli::add_race_options(app, options);
    CLI11_PARSE(app, argc, argv);
    rankbox::cli::fit_to_terminal(options);
    return rankbox::run_race_demo(options, stdout);
  } catch (const rankbox::InvalidArgument& mistake) {
    return rankbox::cli::complain("race_demo", mistake.what(), 2);
  } catch (const std::exception& error) {
    return rankbox::cli::complain("race_demo", error.what(), 1);
  }
}
