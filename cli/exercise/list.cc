#include "cli/exercise/list.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/exercise/progress.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"

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

constexpr int kLeast = 80;    // columns of a table
constexpr int kSummary = 55;  // the column of the last cell

std::string in_lower_case(std::string text) {
  for (char& letter : text)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

/// Returns the exercises whose name, chapter or description contains each of the words, whatever
/// their case.
std::vector<const Exercise*> exercises_with(const std::vector<std::string>& words) {
  std::vector<const Exercise*> found;
  for (const Exercise& exercise : exercises()) {
    const Chapter& chapter = chapter_of(exercise);
    const std::string text = in_lower_case(fmt::format(
        "{}\n{}\n{}\n{}", exercise.name, chapter.folder, chapter.title, exercise.summary));
    if (std::all_of(words.begin(), words.end(), [&](const std::string& word) {
          return text.find(in_lower_case(word)) != std::string::npos;
        })) {
      found.push_back(&exercise);
    }
  }
  return found;
}

/// Returns "about 3 hours"; empty if the registry has no number.
std::string hours_of(const Chapter& chapter) {
  if (chapter.hours == 0) return "";
  return fmt::format("about {} hour{}", chapter.hours, chapter.hours == 1 ? "" : "s");
}

void print_json(const std::vector<const Exercise*>& shown) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Exercise* exercise : shown) {
    const Chapter& chapter = chapter_of(*exercise);
    list.push_back({{"name", exercise->name},
                    {"chapter", chapter.folder},
                    {"title", chapter.title},
                    {"hours", chapter.hours == 0 ? Json() : Json(chapter.hours)},
                    {"difficulty", exercise->difficulty},
                    {"importance", exercise->importance},
                    {"status", progress_of(*exercise)},
                    {"summary", exercise->summary},
                    {"header", header_path(*exercise)},
                    {"file", stub_path(*exercise)}});
  }
  fmt::print("{}\n", list.dump(2));
}

void print_heading(const Chapter& chapter) {
  const std::string hours = hours_of(chapter);
  fmt::print("\n{}\n",
             fit(fmt::format("{}  {}{}{}; headers: {}/NAME.h", chapter.number, chapter.title,
                             hours.empty() ? "" : ", ", hours, chapter.contracts)));
}

/// Wraps the text of the last cell of a row.
std::string cell(const std::string& text, int columns) {
  std::string lines;
  for (const char letter : wrap(text, columns - kSummary, "")) {
    lines += letter;
    if (letter == '\n') lines += std::string(static_cast<std::size_t>(kSummary), ' ');
  }
  return lines;
}

void print_row(const Exercise& exercise, bool colour) {
  const std::string symbol = symbol_of(progress_of(exercise), colour);
  const int columns = known_width();
  fmt::print("{} {:<29}{:<12}{:<12}{}\n", symbol, exercise.name,
             fmt::format("{}/5", exercise.difficulty), fmt::format("{}/5", exercise.importance),
             columns == 0 ? exercise.summary : cell(exercise.summary, std::max(columns, kLeast)));
}

void print_table(const std::vector<const Exercise*>& shown) {
  const bool colour = use_colour();
  fmt::print("  {:<29}{:<12}{:<12}{}\n", "exercise", "difficulty", "importance", "what it is");
  const Chapter* chapter = nullptr;
  for (const Exercise* exercise : shown) {
    if (chapter != &chapter_of(*exercise)) print_heading(chapter_of(*exercise));
    chapter = &chapter_of(*exercise);
    print_row(*exercise, colour);
  }
  fmt::print("\n{}\n", fit("✓ passes  ✗ fails  ~ changed since it was checked  ○ to do"));
}

void print_list(const std::vector<std::string>& words, bool json) {
  const std::vector<const Exercise*> shown = exercises_with(words);
  if (json) {
    print_json(shown);
  } else if (shown.empty() && !words.empty()) {
    const std::vector<std::string> near = nearest_names(words.front());
    throw InvalidArgument(fmt::format(
        "no exercise has '{}' in its name, chapter or description{}; ./rankbox list shows all",
        fmt::join(words, " "),
        near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "))));
  } else {
    print_table(shown);
  }
}

}  // namespace

void add_list(CLI::App& app) {
  struct Options {
    std::vector<std::string> words;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* list = app.add_subcommand("list", "shows all exercises, or finds some by a word");
  list->footer(
      "Example:\n"
      "  ./rankbox list ring                what has it in its name, chapter or description\n"
      "  ./rankbox list mixed scale         both words\n"
      "  ./rankbox list --json | head\n"
      "With --json, status is that of the last check: pass, fail, not_implemented or error;\n"
      "changed if the file was edited since, not_started if it was never checked. If no exercise\n"
      "has the words, the array is empty.");
  list->add_option("text", options->words, "only exercises that have these words")
      ->type_name("TEXT");
  list->add_flag("--json", options->json, "print a JSON array");
  add_course(*list);
  list->callback([options] { print_list(options->words, options->json); });
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
  fmt::print("{}\n\n", fit("Rankbox: distributed training from the inside"));
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
  fmt::print("\n{}\n\n", progress_bar());
  print_next();
  fmt::print("\n{}\n", wrap("Also: ./rankbox watch | next | hint NAME | show NAME | reset NAME | "
                            "list [TEXT] | demo | race | run FILE | "
                            "compare | train | test | dev | --help"));
}

}  // namespace rankbox::cli
