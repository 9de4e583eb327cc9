// check --sealed: a process for each rank, and a referee.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/dev/mutants.h"
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

// variants_test checks all files in threads. Sealed checks of all would take too long, so this test
// runs the longest file of each exercise.
TEST_CASE("a sealed check passes a right program in another style, of every exercise") {
  project();  // sets the root
  std::vector<Words> checks;
  for (const Exercise& exercise : exercises()) {
    const std::vector<std::string> files = cli::variants_of(exercise);
    REQUIRE_FALSE(files.empty());
    const std::string file = *std::ranges::max_element(
        files, {}, [](const std::string& path) { return read_file(path).size(); });
    if (testing::wants_row(file)) checks.push_back({exercise.name, "--file", file});
  }
  check_that_all_pass(checks);
}

TEST_CASE("a sealed check passes what its buffers or its filter once refused") {
  project();  // sets the root
  std::vector<Words> checks;
  for (const char* file : {"race/atomic_wait.cc", "race/atomic_flag_wait.cc",
                           "zero1/asynchronous.cc", "zero2/asynchronous.cc"}) {
    const std::string path = std::string("tests/variants/") + file;
    if (testing::wants_row(path))
      checks.push_back({path.substr(15, path.rfind('/') - 15), "--file", path});
  }
  check_that_all_pass(checks);
}

}  // namespace rankbox
