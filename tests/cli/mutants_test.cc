// Tests of the grader on programs with typical learners' mistakes, which are edits of the solutions
// (tests/mutants, cli/dev/mutants.h). Each must fail for the right reason, on the right rank.
#include "cli/dev/mutants.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "judge/catalog.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"

namespace rankbox {

namespace {

constexpr std::size_t kFewestOfAll = 750;

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

TEST_CASE("there are known-wrong programs of every exercise, and each edit fits its solution") {
  project();  // sets the root
  std::size_t number = 0;
  for (const Exercise& exercise : exercises()) {
    CAPTURE(exercise.name);
    const cli::Mutants mutants = cli::mutants_of(exercise);
    for (const std::string& error : mutants.errors) FAIL_CHECK(error);
    CHECK(mutants.all.size() >= cli::kFewestMutants);
    number += mutants.all.size();
  }
  CHECK(number >= kFewestOfAll);
}

TEST_CASE("a hint is matched by its id, never by its sentence") {
  Verdict verdict = undecided("broadcast_ring");
  verdict.status = Status::kFail;
  verdict.failure.emplace();
  verdict.failure->message = "tensor[0]: got nan; it was never written";
  verdict.failure->replay = "./rankbox check";
  verdict.failure->hint = {"never-written", "it was never written"};
  const auto complaints = [&](const char* message, const char* hint) {
    return cli::complaints({"", "", "", {"values"}, {}, "", message, hint}, verdict);
  };
  CHECK(complaints("got nan", "never-written") == "");
  CHECK(complaints("", "") == "");
  CHECK(complaints("", "never") != "");
  CHECK(complaints("never written", "") != "");
}

TEST_CASE("every wrong program fails for the right reason") {
  project();  // sets the root
  std::vector<cli::Mutant> mutants;
  std::vector<std::vector<std::string>> checks;
  std::size_t row = 0;
  for (const Exercise& exercise : exercises()) {
    for (cli::Mutant& mutant : cli::mutants_of(exercise).all) {
      if (!testing::wants_row(mutant.exercise + ": " + mutant.name)) continue;
      if (!testing::is_to_run(row++)) continue;
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
