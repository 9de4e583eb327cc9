// rankbox-launch: starts a program several times on this machine, as the ranks of one world.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "comm/errors.h"
#include "launch/local_launcher.h"

namespace {

int complain(const std::string& what, int exit_code) {
  fmt::print(stderr, "rankbox-launch: {}\n", what);
  return exit_code;
}

int run(int argc, char** argv) {
  rankbox::launcher::LaunchOptions options;
  CLI::App app(
      "rankbox-launch -n N PROGRAM [ARGUMENTS...]\nStarts PROGRAM several times on this machine, "
      "as the ranks of one world.",
      "rankbox-launch");
  app.add_option("-n,--processes", options.processes, "How many processes")->required();
  app.add_option("--grace", options.grace_seconds,
                 "Seconds from SIGTERM to SIGKILL, for the others when one has failed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.prefix_command();
  app.footer(
      "Exits with the code of the first process that failed, or 128 + the signal it died of.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for_help) {
    return app.exit(asked_for_help);
  } catch (const CLI::Error& mistake) {
    return complain(fmt::format("{} (see rankbox-launch --help)", mistake.what()), 2);
  }
  options.command = app.remaining();
  const rankbox::launcher::LaunchResult result = rankbox::launcher::launch_local(options);
  return result.message.empty() ? result.exit_code : complain(result.message, result.exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const rankbox::InvalidArgument& mistake) {
    return complain(mistake.what(), 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
