// check --salt: the same exercises, judged with other inputs and cases.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "judge/verdict_text.h"
#include "tests/cli/command.h"
#include "tests/cli/wrong_programs.h"
#include "tests/support/run_tests.h"

namespace rankbox {

namespace {

constexpr const char* kSalts[] = {"1", "2718281828", "4294967295"};

/// One of each kind of inputs; all are quick to judge.
constexpr const char* kExercises[] = {
    "race",         "exchange",        "broadcast_ring_pipelined", "reduce_tree",
    "gather_tree",  "allreduce_ring",  "ddp_average_gradients",    "sync_batch_norm",
    "loss_scaling", "master_weights",  "pipeline_interleaved",     "zero1",
    "parallel_mlp", "checkpoint_rank0"};

}  // namespace

// One salt per exercise, to limit the run time.
TEST_CASE("each solution passes under one of the salts") {
  project();  // sets the root
  std::vector<std::vector<std::string>> checks;
  for (const char* exercise : kExercises) {
    const char* const salt = kSalts[checks.size() % std::size(kSalts)];
    checks.push_back({exercise, "--solution", "--salt", salt, "--timeout", "60"});
  }
  const std::vector<Verdict> verdicts = checked_all(checks);
  for (std::size_t i = 0; i < checks.size(); ++i)
    CHECK_MESSAGE(verdicts[i].passed(), checks[i][3], "\n", to_text(verdicts[i]));
}

TEST_CASE("a program that knows the judge's numbers passes without a salt, and under no other") {
  project();
  for (std::size_t row = 0; const WrongProgram& knowing : wrong_programs("knowing")) {
    if (!testing::is_to_run(row++)) continue;
    const Verdict without = checked({knowing.exercise, "--file", knowing.path});
    CHECK_MESSAGE(without.passed(), knowing.name, "\n", to_text(without));
    for (const char* salt : kSalts) {
      const Verdict verdict = checked({knowing.exercise, "--file", knowing.path, "--salt", salt});
      CAPTURE(knowing.name);
      CAPTURE(salt);
      CHECK(verdict.status == Status::kFail);
    }
  }
}

TEST_CASE("a salted failure's replay line names the salt, and fails alike") {
  project();
  const auto programs = wrong_programs("knowing");
  const auto found = std::ranges::find(programs, "knows_elements", &WrongProgram::name);
  REQUIRE(found != programs.end());
  const std::string& path = found->path;
  const Verdict verdict = checked({"broadcast_ring", "--file", path, "--salt", "2718281828"});
  REQUIRE(verdict.failure.has_value());
  const std::string& line = verdict.failure->replay;
  CHECK_MESSAGE(line.find("--salt 2718281828 --replay world_size=") != std::string::npos, line);

  const std::string example = line.substr(line.rfind(' ') + 1);
  const Verdict again =
      checked({"broadcast_ring", "--file", path, "--salt", "2718281828", "--replay", example});
  REQUIRE(again.failure.has_value());
  CHECK(again.failure->message == verdict.failure->message);
}

TEST_CASE("a salt that is no number of 53 bits is refused") {
  for (const char* salt : {"-1", "9007199254740992", "x", ""}) {
    CAPTURE(salt);
    CHECK(rankbox({"check", "race", "--solution", "--salt", salt}).exit_code == 2);
  }
}

}  // namespace rankbox
