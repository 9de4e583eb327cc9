#include <algorithm>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/exercise/guide.h"
#include "cli/exercise/progress.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"

namespace rankbox::cli {
namespace {

struct Options {
  std::string name;
  bool all = false;
};

void hint(const Options& options) {
  const Exercise& exercise = exercise_named(options.name);
  const Guide guide = guide_of(exercise);
  const int most = static_cast<int>(guide.hints.size());
  const int seen = options.all ? most : std::min(hints_seen(exercise) + 1, most);
  for (int i = 0; i < seen; ++i) {
    fmt::print("{}\n", wrap(fmt::format("hint {} of {}: {}", i + 1, most,
                                        guide.hints[static_cast<std::size_t>(i)])));
  }
  remember_hints(exercise, seen);
  if (seen < most) {
    fmt::print("{}\n", fit(fmt::format("more: ./rankbox hint {}", exercise.name)));
  } else {
    fmt::print("{}\n",
               wrap(fmt::format("that was the last one; the answer: {}", solution_path(exercise))));
    // With a worked example there are messages, which can be drawn.
    if (!exercise.example.empty()) {
      fmt::print("{}\n", fit(fmt::format("drawn: ./rankbox show {} --solution", exercise.name)));
    }
  }
}

}  // namespace

void add_hint(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("hint", "helps with an exercise, a little more each time");
  command->footer(
      "Example:\n"
      "  ./rankbox hint broadcast_ring\n"
      "Every call adds one hint; the last is nearly the answer. ./rankbox reset NAME starts over.");
  command->add_option("name", options->name, "an exercise (./rankbox list), or its file")
      ->required()
      ->type_name("NAME");
  command->add_flag("--all", options->all, "all of them at once");
  add_course(*command);
  command->callback([options] { hint(*options); });
}

}  // namespace rankbox::cli
