// All stubs of the course, through the same process that `rankbox check` uses. sealed_test does
// that with the solutions.
#include <doctest/doctest.h>

#include "judge/catalog.h"
#include "judge/verdict_text.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"

namespace rankbox {

namespace {

/// Returns the failure of a stub that is a wrong program instead of an unimplemented one.
FailureKind failure_of_stub(const std::string& exercise) {
  if (exercise == "exchange" || exercise == "moe_zero_tokens") return FailureKind::kDeadlock;
  if (exercise == "race") return FailureKind::kValues;
  return FailureKind::kNotImplemented;
}

}  // namespace

TEST_CASE("every stub fails, and says where there is work to do") {
  std::vector<std::vector<std::string>> checks;
  for (std::size_t row = 0; const Exercise& exercise : exercises()) {
    if (testing::is_to_run(row++))
      checks.push_back({exercise.name, "--file", stub_path(exercise), "--timeout", "60"});
  }
  for (const Verdict& verdict : checked_all(checks)) {
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
