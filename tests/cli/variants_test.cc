// Correct programs in other styles than the reference solutions must pass.
//
// They are tests/variants/<exercise>/<style>.cc.
#include <doctest/doctest.h>

#include "cli/dev/mutants.h"
#include "judge/catalog.h"
#include "judge/verdict_text.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"

namespace rankbox {

namespace {

constexpr std::size_t kFewestOfAll = 150;

}  // namespace

TEST_CASE("every exercise has answers in other styles, which say what is different") {
  project();  // sets the root
  std::size_t number = 0;
  for (const Exercise& exercise : exercises()) {
    CAPTURE(exercise.name);
    const std::vector<std::string> files = cli::variants_of(exercise);
    CHECK(files.size() >= cli::kFewestVariants);
    number += files.size();
    for (const std::string& file : files) {
      CHECK_MESSAGE(read_file(file).starts_with("// "), file, " should begin with a comment");
    }
  }
  CHECK(number >= kFewestOfAll);
}

TEST_CASE("every answer in another style passes all checks") {
  project();
  std::vector<std::vector<std::string>> checks;
  std::size_t row = 0;
  for (const Exercise& exercise : exercises()) {
    for (const std::string& file : cli::variants_of(exercise)) {
      if (!testing::wants_row(file) || !testing::is_to_run(row++)) continue;
      checks.push_back({exercise.name, "--file", file, "--timeout", "60"});
    }
  }

  const std::vector<Verdict> verdicts = checked_all(checks);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    CHECK_MESSAGE(verdicts[i].passed(), checks[i][2], "\n", to_text(verdicts[i]));
  }
}

}  // namespace rankbox
