// The schedules of chapter 8 as a table: that the solutions attain the bubble that their papers
// promise, although sends may block, for every number of ranks and micro-batches.
#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "judge/checks.h"
#include "judge/families.h"
#include "judge/judge.h"
#include "judge/pipeline/deep_model.h"
#include "judge/pipeline/schedule.h"
#include "judge/run_case.h"
#include "judge/training/known_mistakes.h"
#include "parallel/model_parallel.h"
#include "parallel/pipeline_1f1b.h"
#include "parallel/pipeline_data_parallel.h"
#include "parallel/pipeline_gpipe.h"
#include "parallel/pipeline_interleaved.h"
#include "parallel/pipeline_zero_bubble.h"
#include "tests/support/run_tests.h"
#include "training/cross_entropy.h"
#include "training/sgd.h"

namespace rankbox {
namespace {

Case case_of(int world_size, int micro_batches) {
  return {
      .world_size = world_size, .segments = micro_batches, .count = micro_batches + 1, .steps = 0};
}

std::string wrong_with(const Subject& subject, const Case& example) {
  const CaseRun run = run_case(subject, example, {.cluster = subject.cluster});
  if (run.failure) return run.failure->message;
  for (const FailureKind kind : {FailureKind::kCost, FailureKind::kMemory}) {
    if (const auto wrong = first_failure(subject.checks, kind, run.report, example))
      return wrong->message;
  }
  return "";
}

std::string in_short(const std::vector<StagePass>& passes, bool several_chunks = false) {
  std::string text;
  for (const StagePass& pass : passes) text += label_of(pass, several_chunks).text() + " ";
  return text;
}

TEST_CASE(
    "model parallel, GPipe, 1F1B and ZB-H1 take just the time of their formula, 1 to 8 ranks, 1 to "
    "16 micro-batches") {
  if (judges_only_values()) return testing::pass_over("only the sandbox has a clock");
  for (int p = 1; p <= 8; ++p) {
    for (int m = 1; m <= 16; ++m) {
      const Case example = case_of(p, m);
      CAPTURE(to_string(example));
      CHECK(wrong_with(subject_in("pipeline", model_parallel, "model_parallel"), example) == "");
      CHECK(wrong_with(subject_in("pipeline", pipeline_gpipe, "gpipe"), example) == "");
      CHECK(wrong_with(subject_in("pipeline", pipeline_1f1b, "1f1b"), example) == "");
      CHECK(wrong_with(subject_in("pipeline", pipeline_zero_bubble, "zero_bubble"), example) == "");
    }
  }
}

TEST_CASE(
    "interleaved, too: 1 to 8 ranks, 1 to 4 chunks, micro-batches up to four times the ranks") {
  if (judges_only_values()) return testing::pass_over("only the sandbox judges this");
  for (int p = 1; p <= 8; ++p) {
    for (int v = 1; v <= 4; ++v) {
      for (int rounds = 1; rounds <= 4; ++rounds) {
        Case example = case_of(p, rounds * p);
        example.chunks = v;
        CAPTURE(to_string(example));
        CHECK(wrong_with(subject_in("interleaved_pipeline", pipeline_interleaved), example) == "");
      }
    }
  }
}

TEST_CASE("the orders, written out") {
  const PipelineShape shape{3, 4, 1};
  CHECK(in_short(schedule::one_at_a_time(1, shape)) == "F0 B0 F1 B1 F2 B2 F3 B3 ");
  CHECK(in_short(schedule::all_forward_then_back(1, shape)) == "F0 F1 F2 F3 B0 B1 B2 B3 ");
  CHECK(in_short(schedule::one_forward_one_back(0, shape)) == "F0 F1 F2 B0 F3 B1 B2 B3 ");
  CHECK(in_short(schedule::one_forward_one_back(1, shape)) == "F0 F1 B0 F2 B1 F3 B2 B3 ");
  CHECK(in_short(schedule::one_forward_one_back(2, shape)) == "F0 B0 F1 B1 F2 B2 F3 B3 ");
  CHECK(in_short(schedule::one_forward_one_back(0, {3, 1, 1})) == "F0 B0 ");
  // As in figure 3 of the paper.
  const PipelineShape longer{4, 8, 1};
  CHECK(in_short(schedule::zero_bubble(0, longer)) ==
        "F0 F1 F2 F3 B0 W0 F4 B1 W1 F5 B2 W2 F6 B3 W3 F7 B4 W4 B5 W5 B6 W6 B7 W7 ");
  CHECK(in_short(schedule::zero_bubble(3, longer)) ==
        "F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 F6 B6 W3 F7 B7 W4 W5 W6 W7 ");
  // As in figure 4 of the paper: two chunks a rank, of which rank 1 goes back as soon as it can.
  CHECK(in_short(schedule::interleaved(1, {2, 2, 2}), true) == "F0a F1a F0b B0b F1b B1b B0a B1a ");
  CHECK(in_short(schedule::interleaved(0, {2, 2, 2}), true) == "F0a F1a F0b F1b B0b B1b B0a B1a ");
}

TEST_CASE("in flight at once: m with GPipe, min(m, p-r) with 1F1B, min(m, p) with ZB-H1") {
  for (int p = 1; p <= 8; ++p) {
    for (int m = 1; m <= 16; ++m) {
      for (int rank = 0; rank < p; ++rank) {
        const PipelineShape shape{p, m, 1};
        CHECK(most_in_flight(schedule::one_at_a_time(rank, shape)) == 1);
        CHECK(most_in_flight(schedule::all_forward_then_back(rank, shape)) == m);
        CHECK(most_in_flight(schedule::one_forward_one_back(rank, shape)) == std::min(m, p - rank));
        const auto halves = schedule::zero_bubble(rank, shape);
        CHECK(most_in_flight(halves) == std::min(m, p));  // until W: what rank 0 of 1F1B holds
        CHECK(halves.size() == static_cast<std::size_t>(3 * m));
        for (const auto& passes :
             {schedule::one_at_a_time(rank, shape), schedule::all_forward_then_back(rank, shape),
              schedule::one_forward_one_back(rank, shape)})
          CHECK(passes.size() == static_cast<std::size_t>(2 * m));
      }
    }
  }
}

TEST_CASE("labels tell what they were made of") {
  for (const StagePass& pass : {StagePass{Turn::kForward, 0, 0},
                                {Turn::kBackward, 12, 3},
                                {Turn::kBackwardWeights, 7, 1}}) {
    CHECK(pass_of(label_of(pass, true)) == pass);
    CHECK(pass_of(label_of({pass.turn, pass.micro_batch, 0}, false)) ==
          StagePass{pass.turn, pass.micro_batch, 0});
  }
  for (const char* other : {"", "F", "X3", "F3.", "Fa", "B1ab", "B1A", "compute"})
    CHECK_FALSE(pass_of(Label(other)).has_value());
}

/// The gradients of every stage, and the loss, after one step.
using Function = void (*)(Comm& dist, Stage& stage);
std::vector<std::vector<float>> gradients(Function function, int ranks) {
  return run_ranks({.world_size = ranks},
                   [=](Comm& dist) {
                     Stage stage(deep_model(ranks), deep_cut(dist.rank(), ranks));
                     stage.load(micro_batches_of(deep_batch(11, 0), 4));
                     function(dist, stage);
                     std::vector<float> all;
                     for (const Parameter* parameter : stage.parameters()) {
                       for (const float value : to_host(parameter->gradient)) all.push_back(value);
                     }
                     all.push_back(static_cast<float>(stage.loss().sum));
                     return all;
                   })
      .results;
}

TEST_CASE(
    "all four schedules give the same gradients, to the last bit: they add in the same order") {
  for (const int ranks : {1, 2, 5}) {
    if (launch().processes > 0 && launch().processes < ranks) continue;
    const auto expected = gradients(model_parallel, ranks);
    CHECK(gradients(pipeline_gpipe, ranks) == expected);
    CHECK(gradients(pipeline_1f1b, ranks) == expected);
    CHECK(gradients(pipeline_zero_bubble, ranks) == expected);
  }
}

TEST_CASE(
    "what pipelines are judged with learns: every parameter moves a hundred bounds, the loss "
    "falls") {
  for (const int stages : {1, 5}) {
    Sequential model(deep_model(stages));
    const std::vector<NamedTensor> before = values_of(model.parameters());
    Sgd optimizer(model.parameters(), {.learning_rate = 0.05, .momentum = 0.5});
    std::vector<double> losses;
    for (int step = 0; step < 20; ++step) {
      zero_gradients(model.parameters());
      const Batch batch = deep_batch(25, step);
      Saved saved;
      Loss loss = cross_entropy(model.forward(batch.x, saved), batch.labels);
      losses.push_back(loss.mean());
      model.backward(std::move(loss.gradient), saved);
      optimizer.step();
    }
    const std::vector<NamedTensor> after = values_of(model.parameters());
    for (std::size_t k = 0; k < after.size(); ++k) {
      const std::vector<float> was = to_host(before[k].value);
      const std::vector<float> is = to_host(after[k].value);
      float most = 0;
      for (std::size_t i = 0; i < is.size(); ++i) most = std::max(most, std::abs(is[i] - was[i]));
      CAPTURE(stages);
      CAPTURE(after[k].name);
      CHECK(most > 1e-2F);
    }
    CHECK(losses.back() < losses.front() - 0.05);
  }
}

TEST_CASE("gradients reach the first of 17 stages: there is something to compare everywhere") {
  Sequential model(deep_model(17));
  const Batch batch = deep_batch(7, 0);
  Saved saved;
  Loss loss = cross_entropy(model.forward(batch.x, saved), batch.labels);
  model.backward(std::move(loss.gradient), saved);
  for (const NamedTensor& gradient : gradients_of(model)) {
    float most = 0;
    for (const float value : to_host(gradient.value)) most = std::max(most, std::abs(value));
    CAPTURE(gradient.name);
    CHECK(most > 3e-4F);  // a hundred bounds
  }
}

}  // namespace
}  // namespace rankbox
