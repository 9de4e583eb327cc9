// race_demo: the race-condition demo on the command line.
//
// Ctrl-C needs no handler: nothing is left behind that would have to be put right (see
// run_race_demo).
#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "comm/errors.h"
#include "race/race_demo.h"

namespace {

// https://no-color.org: set to anything but "", it means no.
bool wants_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

int terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

int main(int argc, char** argv) {
  rankbox::RaceOptions options;
  CLI::App app(
      "Threads add to and subtract from one shared value: the race, its three fixes, and why.");
  app.add_option("--threads", options.threads, "half of them add 1, half subtract 1")
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "updates of each thread")->capture_default_str();
  app.add_option("--runs", options.runs, "runs of the unfixed race")->capture_default_str();
  app.add_flag("--step", options.step, "wait for Enter before each line of the interleaving");
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("race_demo: {} (see race_demo --help)\n", error.what());
  });
  CLI11_PARSE(app, argc, argv);

  options.color = wants_color();
  options.width = terminal_width();
  options.step = options.step && isatty(STDIN_FILENO) == 1;
  try {
    return rankbox::run_race_demo(options, stdout);
  } catch (const rankbox::Error& error) {
    std::fflush(stdout);
    fmt::print(stderr, "race_demo: {}\n", error.what());
    return 2;
  }
}
