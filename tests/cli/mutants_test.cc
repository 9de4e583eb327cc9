// Tests of the grader on programs with typical learners' mistakes.
//
// Each must fail for the right reason, on the right rank. See mutants.h. Chapters 4 and 5 are in
// mutants_of_later_chapters_test.cc.
#include "tests/cli/mutants.h"

#include <doctest/doctest.h>

#include "cli/dev/mutants.h"
#include "judge/catalog.h"
#include "tests/cli/command.h"

namespace rankbox {

namespace {

constexpr std::size_t kFewestOfAll = 700;

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

TEST_CASE("chapter 1: every wrong program fails for the right reason") {
  check_mutants_of_chapter(1);
}

TEST_CASE("chapter 2: every wrong program fails for the right reason") {
  check_mutants_of_chapter(2);
}

TEST_CASE("chapter 3: every wrong program fails for the right reason") {
  check_mutants_of_chapter(3);
}

}  // namespace rankbox
