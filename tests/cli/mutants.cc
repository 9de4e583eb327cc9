#include "tests/cli/mutants.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "cli/dev/mutants.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"

namespace rankbox {

namespace {

/// Returns "mutants/broadcast_ring_3.cc", from the project's root: short, because the replay line
/// contains it.
std::string written(const cli::Mutant& mutant, std::size_t number) {
  const std::filesystem::path folder = std::filesystem::path(project()) / "mutants";
  std::filesystem::create_directories(folder);
  const std::string name = fmt::format("{}_{}.cc", mutant.exercise, number);
  std::ofstream(folder / name) << mutant.source;
  return "mutants/" + name;
}

}  // namespace

void check_mutants_of_chapter(int chapter) {
  project();  // sets the root
  std::vector<cli::Mutant> mutants;
  std::vector<std::vector<std::string>> checks;
  std::size_t row = 0;
  for (const Exercise& exercise : exercises()) {
    if (exercise.chapter != chapter) continue;
    for (cli::Mutant& mutant : cli::mutants_of(exercise).all) {
      if (!testing::wants_row(mutant.exercise + ": " + mutant.name)) continue;
      if (!testing::is_in_third(row++)) continue;
      checks.push_back({mutant.exercise, "--file", written(mutant, checks.size()), "--timeout",
                        fmt::format("{:g}", mutant.seconds())});
      mutants.push_back(std::move(mutant));
    }
  }

  const std::vector<Verdict> verdicts = checked_all(checks);
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const std::string wrong = cli::complaints(mutants[i], verdicts[i]);
    CHECK_MESSAGE(wrong.empty(), mutants[i].exercise, ": ", mutants[i].name, "\n", wrong);
  }
}

}  // namespace rankbox
