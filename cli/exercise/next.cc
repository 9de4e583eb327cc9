#include <algorithm>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exercise/list.h"
#include "cli/exercise/progress.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"

namespace rankbox::cli {
namespace {

/// Returns the exercise last checked alone if it does not pass yet, else the first that does not
/// pass; null if all pass.
const Exercise* exercise_to_do() {
  const Exercise* latest = latest_exercise();
  if (latest != nullptr && progress_of(*latest) != "pass") return latest;
  const auto found =
      std::find_if(exercises().begin(), exercises().end(),
                   [](const Exercise& exercise) { return progress_of(exercise) != "pass"; });
  return found == exercises().end() ? nullptr : &*found;
}

std::string check_command(const Exercise& exercise) { return "./rankbox check " + exercise.name; }

/// Prints one object, or null if all pass.
void print_next_json() {
  nlohmann::ordered_json next;
  if (const Exercise* exercise = exercise_to_do()) {
    next = {{"name", exercise->name},
            {"chapter", chapter_of(*exercise).folder},
            {"page", readme_path(chapter_of(*exercise))},
            {"header", header_path(*exercise)},
            {"file", stub_path(*exercise)},
            {"command", check_command(*exercise)}};
  }
  fmt::print("{}\n", next.dump(2));
}

}  // namespace

void print_next() {
  const Exercise* next = exercise_to_do();
  if (next == nullptr) {
    fmt::print("{}\n", fit("All done. Compare them: ./rankbox compare"));
    return;
  }
  const bool begun = next == latest_exercise();
  fmt::print("{}\n", wrap(fmt::format("{}: {}, {} (difficulty {}/5)", begun ? "Go on" : "Next",
                                      next->name, next->summary, next->difficulty)));
  const std::string check = check_command(*next);
  fmt::print("  read    {}\n", readme_path(chapter_of(*next)));
  fmt::print("  header  {}\n", header_path(*next));
  fmt::print("  edit    {}\n", stub_path(*next));
  fmt::print("  check   {}{}\n", check, begun ? "" : "    or ./rankbox watch");
  if (begun) fmt::print("  stuck   ./rankbox hint {}\n", next->name);
}

void add_next(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("next", "says which exercise is next, and where it is");
  command->footer(
      "Example:\n"
      "  ./rankbox next\n"
      "It is the exercise last checked alone if it does not pass yet, else the first that does\n"
      "not pass: the chapter's page, the header that specifies it, your file and the command.");
  command->add_flag("--json", *json, "print one JSON object, or null if all pass");
  add_course(*command);
  command->callback([json] { *json ? print_next_json() : print_next(); });
}

}  // namespace rankbox::cli
