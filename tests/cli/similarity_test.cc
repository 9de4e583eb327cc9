// Similarity of right programs and of copies: tests/variants and tests/mutants.
#include "cli/grade/similarity.h"

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "cli/dev/mutants.h"
#include "cli/support/paths.h"
#include "exercises/registry.h"

namespace rankbox {

namespace {

/// Makes the test's files the project. The stubs are those of the registry: a learner may have
/// written into the files here.
void use_runfiles() { setenv("RANKBOX_ROOT", std::filesystem::current_path().c_str(), 1); }

cli::HandedOutText handed_out(const Exercise& exercise) {
  const std::string stub =
      "../course/stubs/" + stub_path(exercise).substr(std::string("exercises/").size());
  return {exercise.name, cli::text_of(stub), cli::text_of(solution_path(exercise))};
}

}  // namespace

TEST_CASE("of right programs in different styles, few pairs are reported") {
  use_runfiles();
  std::size_t compared = 0;
  std::size_t reported = 0;
  for (const Exercise& exercise : exercises()) {
    std::vector<cli::SubmittedText> submissions;
    for (const std::string& file : cli::variants_of(exercise))
      submissions.push_back({file, exercise.name, cli::text_of(file)});
    compared += submissions.size() * (submissions.size() + 1) / 2;  // with the reference, too
    for (const auto& pair : cli::similar_pairs(submissions, {handed_out(exercise)})) {
      MESSAGE(to_text(pair));
      ++reported;
    }
  }
  CHECK(compared >= 200);
  CHECK(50 * reported <= compared);  // 2 %
}

TEST_CASE("most copies of a solution with a mistake or two are reported") {
  use_runfiles();
  std::size_t compared = 0;
  std::size_t reported = 0;
  for (const Exercise& exercise : exercises()) {
    std::vector<cli::SubmittedText> submissions;
    for (const cli::Mutant& mutant : cli::mutants_of(exercise).all)
      submissions.push_back({mutant.name, exercise.name, mutant.source});
    // Two of an exercise are pairs with the solution, not with each other.
    std::size_t with_solution = 0;
    for (const auto& pair : cli::similar_pairs(submissions, {handed_out(exercise)}))
      if (pair.b.empty()) ++with_solution;
    if (with_solution == 0) continue;  // too short to compare
    compared += submissions.size();
    reported += with_solution;
  }
  CHECK(compared >= 200);
  CHECK(10 * reported >= 8 * compared);
}

}  // namespace rankbox
