#include "cli/exercise/list.h"

#include <algorithm>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exercise/progress.h"
#include "cli/support/course.h"
#include "cli/support/paths.h"
#include "cli/support/terminal.h"
#include "cli/support/wrap.h"

namespace rankbox::cli {

namespace {

std::string symbol_of(const std::string& status, bool colour) {
  const auto paint = [&](const char* code, const char* symbol) {
    return colour ? fmt::format("\033[{}m{}\033[0m", code, symbol) : std::string(symbol);
  };
  if (status == "pass") return paint("32", "✓");
  if (status == "changed") return paint("33", "~");
  if (status == "fail" || status == "error") return paint("31", "✗");
  return "○";
}

void print_json() {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Exercise& exercise : exercises()) {
    list.push_back({{"name", exercise.name},
                    {"chapter", chapter_of(exercise).folder},
                    {"title", chapter_of(exercise).title},
                    {"difficulty", exercise.difficulty},
                    {"importance", exercise.importance},
                    {"status", progress_of(exercise)},
                    {"summary", exercise.summary},
                    {"file", stub_path(exercise)}});
  }
  fmt::print("{}\n", list.dump(2));
}

void print_table() {
  const bool colour = use_colour();
  fmt::print("  {:<29}{:<12}{:<12}{}\n", "exercise", "difficulty", "importance", "what it is");
  for (const Chapter& chapter : chapters()) {
    fmt::print("\n{}  {}\n", chapter.number, chapter.title);
    for (const Exercise& exercise : exercises()) {
      if (exercise.chapter != chapter.number) continue;
      fmt::print("{} {:<29}{:<12}{:<12}{}\n", symbol_of(progress_of(exercise), colour),
                 exercise.name, fmt::format("{}/5", exercise.difficulty),
                 fmt::format("{}/5", exercise.importance), exercise.summary);
    }
  }
  fmt::print("\n✓ passes  ✗ fails  ~ changed since it was checked  ○ to do\n");
}

/// Returns the exercise checked last if it does not pass yet, else the first that does not pass;
/// null if all pass.
const Exercise* exercise_to_do() {
  const Exercise* latest = latest_exercise();
  if (latest != nullptr && progress_of(*latest) != "pass") return latest;
  const auto found =
      std::find_if(exercises().begin(), exercises().end(),
                   [](const Exercise& exercise) { return progress_of(exercise) != "pass"; });
  return found == exercises().end() ? nullptr : &*found;
}

void print_next() {
  const Exercise* next = exercise_to_do();
  if (next == nullptr) {
    fmt::print("\nAll done. Compare them: ./rankbox compare\n");
    return;
  }
  const bool begun = next == latest_exercise();
  fmt::print("\n{}\n", wrap(fmt::format("{}: {}, {} (difficulty {}/5)", begun ? "Go on" : "Next",
                                        next->name, next->summary, next->difficulty)));
  fmt::print("  read   {}\n", readme_path(chapter_of(*next)));
  fmt::print("  edit   {}\n", stub_path(*next));
  fmt::print("  check  ./rankbox check {}{}\n", next->name, begun ? "" : "    or ./rankbox watch");
  if (begun) fmt::print("  stuck  ./rankbox hint {}\n", next->name);
}

}  // namespace

void add_list(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App* list = app.add_subcommand("list", "shows all exercises and how far you are");
  list->footer(
      "Example:\n"
      "  ./rankbox list --json | head\n"
      "With --json, status is that of the last check: pass, fail, not_implemented or error;\n"
      "changed if the file was edited since, not_started if it was never checked.");
  list->add_flag("--json", *json, "print a JSON array");
  add_course(*list);
  list->callback([json] { *json ? print_json() : print_table(); });
}

std::string progress_bar() {
  constexpr int kCells = 27;
  const int all = static_cast<int>(exercises().size());
  const int passed = static_cast<int>(
      std::count_if(exercises().begin(), exercises().end(),
                    [](const Exercise& exercise) { return progress_of(exercise) == "pass"; }));
  std::string bar;
  for (int cell = 0; cell < kCells; ++cell) bar += cell * all < passed * kCells ? "█" : "░";
  return fmt::format("[{}] {} of {}", bar, passed, all);
}

void print_overview() {
  const bool colour = use_colour();
  fmt::print("Rankbox: distributed training from the inside\n\n");
  for (const Chapter& chapter : chapters()) {
    std::string symbols;
    int passed = 0;
    int all = 0;
    for (const Exercise& exercise : exercises()) {
      if (exercise.chapter != chapter.number) continue;
      const std::string status = progress_of(exercise);
      symbols += symbol_of(status, colour);
      ++all;
      if (status == "pass") ++passed;
    }
    fmt::print("{:>3}  {:<28}{:>2} of {:<4}{}\n", chapter.number, chapter.title, passed, all,
               symbols);
  }
  fmt::print("\n{}\n", progress_bar());
  print_next();
  fmt::print("\n{}\n", wrap("Also: ./rankbox watch | hint NAME | show NAME | reset NAME | list | "
                            "demo | race | run FILE | "
                            "compare | train | test | dev | --help"));
}

}  // namespace rankbox::cli
