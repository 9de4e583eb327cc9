// check --sealed: a process for each rank, and a referee.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/support/container.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"
#include "verdict/catalog.h"
#include "verdict/verdict_text.h"

namespace rankbox {

namespace {

/// What is checked: an exercise, and a file or --solution.
using Words = std::vector<std::string>;

void check_that_all_pass(std::vector<Words> checks) {
  if (const std::string problem = cli::container_problem(); !problem.empty())
    return testing::pass_over(problem);
  for (Words& words : checks) words.insert(words.end(), {"--sealed", "--timeout", "60"});
  const std::vector<Verdict> verdicts = checked_all(checks);
  for (std::size_t i = 0; i < checks.size(); ++i)
    CHECK_MESSAGE(verdicts[i].passed(), fmt::format("{}", fmt::join(checks[i], " ")), "\n",
                  to_text(verdicts[i]));
}

}  // namespace

TEST_CASE("a sealed check passes every solution") {
  project();  // sets the root
  std::vector<Words> checks;
  for (const Exercise& exercise : exercises()) {
    if (testing::wants_row(exercise.name)) checks.push_back({exercise.name, "--solution"});
  }
  check_that_all_pass(checks);
}

TEST_CASE("a sealed check passes every right program in another style") {
  const std::string root = project();
  std::vector<Words> checks;
  for (const Exercise& exercise : exercises()) {
    const std::filesystem::path folder = root + "/" + variants_path(exercise);
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string row = exercise.name + " " + file.path().stem().string();
      if (testing::wants_row(row)) checks.push_back({exercise.name, "--file", file.path()});
    }
  }
  CHECK(checks.size() > 100);
  check_that_all_pass(checks);
}

}  // namespace rankbox
