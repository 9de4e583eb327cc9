// All exercises of the course, through the same process that `rankbox check` uses.
//
// Every stub leaves something to do, and every solution does it.
#include <doctest/doctest.h>

#include "tests/cli/command.h"
#include "verdict/catalog.h"
#include "verdict/verdict_text.h"

namespace rankbox {

namespace {

std::vector<Verdict> check_all(std::string (*path_of)(const Exercise&)) {
  std::vector<std::vector<std::string>> checks;
  for (const Exercise& exercise : exercises()) {
    checks.push_back({exercise.name, "--file", path_of(exercise), "--timeout", "60"});
  }
  return checked_all(checks);
}

/// Returns the failure of a stub that is a wrong program instead of an unimplemented one.
FailureKind failure_of_stub(const std::string& exercise) {
  if (exercise == "exchange") return FailureKind::kDeadlock;
  if (exercise == "race") return FailureKind::kValues;
  return FailureKind::kNotImplemented;
}

}  // namespace

TEST_CASE("every solution passes") {
  for (const Verdict& verdict : check_all(solution_path)) {
    INFO(to_text(verdict));
    CHECK(verdict.status == Status::kPass);
    CHECK_FALSE(verdict.failure.has_value());
  }
}

TEST_CASE("every stub fails, and says where there is work to do") {
  for (const Verdict& verdict : check_all(stub_path)) {
    INFO(to_text(verdict));
    const FailureKind expected = failure_of_stub(verdict.name);
    REQUIRE(verdict.failure.has_value());
    CHECK(verdict.failure->kind == expected);
    CHECK(verdict.status ==
          (expected == FailureKind::kNotImplemented ? Status::kNotImplemented : Status::kFail));
    CHECK(verdict.failure->file == stub_path(*find_exercise(verdict.name)));
    CHECK(verdict.failure->line > 0);
  }
}

}  // namespace rankbox
