// check --sealed: a process for each rank, and a referee.
#include <doctest/doctest.h>

#include "cli/support/container.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"
#include "verdict/catalog.h"
#include "verdict/verdict_text.h"

namespace rankbox {

TEST_CASE("a sealed check passes every solution") {
  project();  // sets the root
  if (const std::string problem = cli::container_problem(); !problem.empty())
    return testing::pass_over(problem);
  std::vector<std::vector<std::string>> checks;
  for (const Exercise& exercise : exercises()) {
    if (!testing::wants_row(exercise.name)) continue;
    checks.push_back({exercise.name, "--solution", "--sealed", "--timeout", "60"});
  }
  const std::vector<Verdict> verdicts = checked_all(checks);
  for (std::size_t i = 0; i < checks.size(); ++i)
    CHECK_MESSAGE(verdicts[i].passed(), checks[i][0], "\n", to_text(verdicts[i]));
}

}  // namespace rankbox
