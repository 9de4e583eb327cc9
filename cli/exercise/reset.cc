#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/exercise/progress.h"
#include "cli/exercise/stub.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"
#include "files/output_file.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

/// Returns an unused name: .rankbox/saved/broadcast_ring-20260131-235959.cc
fs::path place_to_save(const Exercise& exercise) {
  const fs::path folder = fs::path(state_folder()) / "saved";
  fs::create_directories(folder);
  const std::string stem =
      fmt::format("{}-{:%Y%m%d-%H%M%S}", exercise.name,
                  std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  fs::path place = folder / (stem + ".cc");
  for (int i = 2; fs::exists(place); ++i) place = folder / fmt::format("{}-{}.cc", stem, i);
  return place;
}

void reset(const std::string& name) {
  const Exercise& exercise = exercise_named(name);
  const fs::path own = absolute_path(stub_path(exercise));
  const std::string text = stub_text(exercise);
  try {
    if (fs::exists(own) && !is_stub(exercise)) {
      const fs::path saved = place_to_save(exercise);
      fs::copy_file(own, saved);
      fmt::print("{}\n", fit("your file is saved as " + display_path(saved.string())));
    }
    write_file(own.string(), text);
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("cannot reset {}: {}", exercise.name, error.code().message()));
  }
  forget(exercise);
  fmt::print("{}\n", fit(stub_path(exercise) + " is restored to its initial state"));
}

}  // namespace

void add_reset(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("reset", "restores an exercise to its initial state");
  command->footer(
      "Example:\n"
      "  ./rankbox reset broadcast_ring\n"
      "Your file is kept in .rankbox/saved; hints, prediction and progress of the exercise go.");
  command->add_option("name", *name, "an exercise (./rankbox list), or its file")
      ->required()
      ->type_name("NAME");
  add_course(*command);
  command->callback([name] { reset(*name); });
}

}  // namespace rankbox::cli
