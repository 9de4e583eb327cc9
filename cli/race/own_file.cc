#include "cli/race/own_file.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/plugin/compile.h"
#include "cli/plugin/contained.h"
#include "cli/plugin/library_info.h"
#include "cli/support/paths.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"
#include "files/temporary_folder.h"
#include "judge/race/explore_race.h"
#include "judge/race/grouped.h"
#include "judge/race/steps_table.h"

namespace rankbox::cli {

namespace {

/// Returns the rows with their lines in the source.
std::vector<StepRow> rows_in(const nlohmann::json& result, const std::string& library,
                             const std::string& source) {
  std::map<std::string, int> lines;  // [address]
  std::vector<StepRow> rows;
  for (const nlohmann::json& each : result.at("rows")) {
    StepRow row;
    row.thread = each.at("thread");
    row.what = each.at("what");
    row.value = each.at("value");
    row.overwrote = each.at("overwrote");
    const std::string address = each.at("address");
    const auto [line, is_new] = lines.try_emplace(address, 0);
    if (is_new && !address.empty()) line->second = source_line(library, address, source);
    row.line = line->second;
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_steps(const std::vector<std::string>& lines, bool step) {
  for (const std::string& line : lines) {
    for (int read = step ? std::getchar() : '\n'; read != '\n' && read != EOF;)
      read = std::getchar();
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
}

int print_result(const nlohmann::json& result, const std::string& library,
                 const std::string& source, const OwnFileOptions& options) {
  const std::string problem = result.at("problem");
  const std::string run =
      fmt::format("{} threads, {} update{} each", result.at("threads").get<int>(),
                  grouped(result.at("repeats")), result.at("repeats") == 1 ? "" : "s");
  if (problem.empty() && options.replay.empty()) {
    fmt::print("{}\n",
               fit(fmt::format("✓ {}: no update is lost in {} schedules of small and long runs",
                               display_path(source), grouped(result.at("executions")))));
    return 0;
  }
  fmt::print("{}\n\n",
             fit(fmt::format("{} {}: {}", problem.empty() ? "✓" : "✗", display_path(source), run)));
  const std::vector<StepRow> rows = rows_in(result, library, source);
  print_steps(steps_table(rows, result.at("before")), options.step);
  fmt::print("\n{}\n",
             wrap(problem.empty() ? "no update is lost in this schedule" : problem, 0, ""));
  fmt::print("{}\n", fit(fmt::format("again: ./rankbox race {} --replay {}", display_path(source),
                                     result.at("replay").get<std::string>())));
  return problem.empty() ? 0 : 1;
}

/// Returns the path of the file; `race` names the stub of the exercise.
std::string file_of(const std::string& name) {
  const Exercise* const exercise = find_exercise(name);
  if (exercise == nullptr || std::filesystem::is_regular_file(name)) return name;
  if (exercise->name == "race") return stub_path(*exercise);
  throw InvalidArgument(fmt::format(
      "{} has ranks and messages, and no thread shares a value; ./rankbox check {} judges it", name,
      name));
}

int complain(const Failure& failure) {
  const std::string place =
      failure.file.empty() ? "" : fmt::format(" ({}:{})", failure.file, failure.line);
  fmt::print("{}\n", fit(fmt::format("✗ {}{}", failure.message, place)));
  return 1;
}

}  // namespace

int show_own_file(const OwnFileOptions& options) {
  const std::string file = file_of(options.file);
  require_readable(file);
  if (!options.replay.empty()) {
    RaceRun ignored;
    parse_replay(options.replay, ignored);
  }
  const Exercise& exercise = exercise_named("race");
  const TemporaryFolder temporary;
  const std::string library = temporary.path("exercise.so");
  const std::string source = absolute_path(file);
  const Compiled compiled = compile(exercise, display_path(source), library, {});
  if (compiled.failure) return complain(*compiled.failure);

  ContainedOptions contained;
  contained.words = {"explore-race", library};
  if (!options.replay.empty())
    contained.words.insert(contained.words.end(), {"--replay", options.replay});
  contained.in_container = true;
  contained.name = contained.function = exercise.name;
  contained.library = library;
  contained.source = source;
  contained.temporary = temporary.path("");
  contained.seconds = 20;
  const Contained done = run_contained(contained);
  if (done.verdict.failure) return complain(*done.verdict.failure);
  return print_result(nlohmann::json::parse(done.result), library, source, options);
}

}  // namespace rankbox::cli
