// check --salt: the same exercises, judged with other inputs and cases.
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "judge/verdict_text.h"
#include "tests/cli/command.h"
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

/// A program that returns the judge's numbers without a salt: it reads none of them, or one and
/// concludes the others.
struct Knowing {
  const char* file;
  const char* exercise;
};
constexpr Knowing kKnowing[] = {{"knows_elements.cc", "broadcast_ring"},
                                {"knows_partner.cc", "exchange"},
                                {"knows_seed.cc", "split_without_leak"},
                                {"knows_sums.cc", "allreduce_tree"},
                                {"knows_distances.cc", "broadcast_ring"},
                                {"knows_losses.cc", "exact_metrics"},
                                {"knows_overflows.cc", "dynamic_loss_scaling"},
                                {"knows_scaled.cc", "loss_scaling"},
                                {"knows_squares.cc", "clip_global_norm"},
                                {"knows_seeds.cc", "split_without_leak"},
                                {"knows_wide.cc", "bf16_gradients"},
                                {"knows_later.cc", "bf16_gradients"},
                                {"knows_prefixes.cc", "ddp_init_broadcast"},
                                {"knows_numbers.cc", "checkpoint_rank0"},
                                {"knows_batches.cc", "ddp_uneven_inputs"},
                                {"knows_slopes.cc", "stochastic_rounding"},
                                {"knows_steps.cc", "master_weights"},
                                {"knows_labels.cc", "vocab_parallel_cross_entropy"}};

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
  for (std::size_t row = 0; const Knowing& knowing : kKnowing) {
    if (!testing::is_in_third(row++)) continue;
    const std::string file = knowing.file;
    const std::string exercise = knowing.exercise;
    const std::string path = "tests/judge/wrong/" + file;
    const Verdict without = checked({exercise, "--file", path});
    CHECK_MESSAGE(without.passed(), file, "\n", to_text(without));
    for (const char* salt : kSalts) {
      const Verdict verdict = checked({exercise, "--file", path, "--salt", salt});
      CAPTURE(file);
      CAPTURE(salt);
      CHECK(verdict.status == Status::kFail);
    }
  }
}

TEST_CASE("a salted failure's replay line names the salt, and fails alike") {
  project();
  const char* const path = "tests/judge/wrong/knows_elements.cc";
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
