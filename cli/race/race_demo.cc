// race_demo: the race-condition demo on the command line.
//
// Ctrl-C needs no handler: nothing is left behind that would have to be put right (see
// run_race_demo).
#include "race/race_demo.h"

#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/race/race_options.h"
#include "comm/errors.h"

namespace {

int complain(const std::exception& error, int exit_code) {
  std::fflush(stdout);
  fmt::print(stderr, "race_demo: {}\n", error.what());
  return exit_code;
}

}  // namespace

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
    return complain(mistake, 2);
  } catch (const std::exception& error) {
    return complain(error, 1);
  }
}
