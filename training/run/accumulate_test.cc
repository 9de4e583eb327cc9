// Gradient accumulation equals larger batches; 16 bits and F1 on every strategy.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "compute/portable.h"
#include "tests/support/run_tests.h"
#include "training/run/class_counts.h"
#include "training/run/trained.h"

namespace rankbox::train {
namespace {

/// The strategies, with the models that they train as single does.
struct Row {
  const char* strategy;
  const char* model;
};
constexpr Row kRows[] = {{"single", "mlp"},
                         {"ddp", "mlp"},
                         {"zero1", "mlp"},
                         {"zero2", "mlp"},
                         {"zero3", "mlp"},
                         {"fsdp", "mlp"},
                         {"hsdp", "mlp"},
                         {"dp", "mlp"},
                         {"tensor", "mlp"},
                         {"pipeline", "mlp"},
                         {"ddp", "transformer"},  // dropout
                         {"pipeline", "transformer"},
                         {"expert", "moe"}};

/// Emulated GPUs are slow: they run some of the rows.
const bool kIsSlow = kOnGpu && std::getenv("RANKBOX_EMULATED_GPUS") != nullptr;

/// Returns 2 ranks, or 1 for single; 0 if they are not there.
int ranks_for(const std::string& strategy) {
  if (kIsSlow && strategy != "ddp" && strategy != "zero3" && strategy != "pipeline") return 0;
  const int ranks = strategy == "single" ? 1 : 2;
  return launch().processes > 0 && launch().processes < ranks ? 0 : ranks;
}

TEST_CASE("no strategy is left out") {
  for (const Strategy* strategy : strategies()) {
    CAPTURE(std::string(strategy->name));
    CHECK(
        std::ranges::any_of(kRows, [&](const Row& row) { return strategy->name == row.strategy; }));
  }
}

TEST_CASE("accumulated batches give the parameters of one that is as large") {
  for (const auto& [strategy, model] : kRows) {
    const int ranks = ranks_for(strategy);
    if (ranks == 0) continue;
    CAPTURE(std::string(strategy));
    CAPTURE(std::string(model));
    const Task task = small_task(model);
    Plan plan = small_plan("single", 1);
    plan.weight_decay = 0.01;
    const Trained large = train(plan, task);
    plan.strategy = strategy;
    plan.ranks = ranks;
    for (const std::int64_t accumulate : {2, 4}) {
      if (kIsSlow && accumulate == 4) continue;
      CAPTURE(accumulate);
      plan.accumulate = accumulate;
      plan.batch = 16 / accumulate;
      const Trained small = train(plan, task);
      CHECK(small.losses.size() == kSteps);
      for (std::size_t i = 0; i < small.losses.size(); ++i)
        CHECK(small.losses[i] == doctest::Approx(large.losses[i]).epsilon(1e-4));
      CHECK(largest_difference(small.after[0], large.after[0]) < 1e-5);
      CHECK(small.metrics[0].f1 == doctest::Approx(large.metrics[0].f1));
    }
    // More batches of the same size are another run.
    plan.batch = 16;
    plan.accumulate = 2;
    const Trained fewer = train(plan, task);
    CHECK(fewer.losses.size() == kSteps / 2);
    CHECK(largest_difference(fewer.after[0], large.after[0]) > 1e-3);
  }
}

TEST_CASE("every strategy trains in 16 bits, near 32, also with accumulated batches") {
  for (const Precision precision : {Precision::kMixed, Precision::kBf16}) {
    for (const auto& [strategy, model] : kRows) {
      const int ranks = ranks_for(strategy);
      if (ranks == 0 || std::string(model) != model_for(strategy)) continue;
      CAPTURE(name_of(precision));
      CAPTURE(std::string(strategy));
      const Task task = small_task(model);
      Plan plan = small_plan(strategy, ranks);
      plan.batch = 8;
      plan.accumulate = 2;
      const Trained full = train(plan, task);
      plan.precision = precision;
      const Trained half = train(plan, task);
      const double off = largest_difference(half.after[0], full.after[0]);
      CHECK(off > 0);
      CHECK(off < 0.02);
      CHECK(half.losses.back() == doctest::Approx(full.losses.back()).epsilon(0.02));
    }
  }
}

TEST_CASE("in buckets, during backward or after it, ddp has the parameters of single") {
  const Task task = small_task("mlp");
  const Trained single = train(small_plan("single", 1), task);
  for (const int ranks : world_sizes()) {
    for (const double mib : {1e-6, 0.01, 25.0}) {  // a parameter each, some, all
      if (kIsSlow && mib < 25) continue;
      for (const bool overlap : {false, true}) {
        CAPTURE(ranks);
        CAPTURE(mib);
        CAPTURE(overlap);
        Plan plan = small_plan("ddp", ranks);
        plan.bucket_mib = mib;
        plan.overlap = overlap;
        check_equal(train(plan, task), single, 1e-5);
        plan.precision = Precision::kMixed;
        if (mib == 25.0)
          CHECK(largest_difference(train(plan, task).after[0], single.after[0]) < 0.02);
      }
    }
  }
}

TEST_CASE("F1 is exact, for two classes that of class 1, for more the mean over those seen") {
  using Labels = std::vector<std::int32_t>;
  const struct {
    std::int64_t classes;
    Labels labels, answers;
    double f1;
  } table[] = {
      {2, {1, 1, 0, 0}, {1, 0, 0, 0}, 2.0 / 3},
      {2, {0, 0}, {0, 0}, 0},
      {2, {0, 1, -1}, {0, 1, 1}, 1},  // padding
      {3, {0, 1, 2, 2}, {0, 2, 2, 2}, (1 + 0 + 0.8) / 3},
      {3, {0, 0, 1, 1}, {0, 1, 1, 1}, (2.0 / 3 + 0.8) / 2},  // class 2 is never seen
      {2, {}, {}, 0},
  };
  for (const auto& row : table) {
    for (const int ranks : world_sizes()) {
      CAPTURE(row.labels);
      CAPTURE(ranks);
      const auto run = run_ranks({.world_size = ranks, .trace = false}, [&](Comm& dist) {
        ClassCounts counts(row.classes);
        for (std::size_t i = 0; i < row.labels.size(); ++i) {
          if (static_cast<int>(i) % ranks != dist.rank()) continue;
          std::vector<float> logits(static_cast<std::size_t>(row.classes), -1);
          logits[static_cast<std::size_t>(row.answers[i])] = 1;
          counts.add(from_host(logits, {1, row.classes}), std::vector{row.labels[i]});
        }
        counts.add_over_ranks(dist);
        return counts.f1();
      });
      for (const double f1 : run.results) CHECK(f1 == doctest::Approx(row.f1).epsilon(1e-12));
    }
  }
}

TEST_CASE("accuracy and F1 are the same numbers for any number of ranks") {
  const Task task = small_task("transformer");
  const Evaluation one = train(small_plan("single", 1), task).metrics[0];
  for (const int ranks : world_sizes()) {
    CAPTURE(ranks);
    for (const Evaluation& each : train(small_plan("ddp", ranks), task).metrics) {
      CHECK(each.f1 == one.f1);
      CHECK(each.accuracy == one.accuracy);
    }
  }
}

}  // namespace
}  // namespace rankbox::train
