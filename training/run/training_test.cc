// Strategies train the same model up to rounding, and ranks stay equal.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"
#include "training/run/loop.h"
#include "training/run/strategies/all_reduce.h"
#include "training/run/trained.h"

namespace rankbox::train {
namespace {

/// Strategies that must equal single, and the models to test them on.
struct Rivals {
  std::vector<std::string> strategies;
  std::vector<std::string> models;
};
const Rivals kEqualToSingle[] = {
    {{"ddp", "zero1", "zero2", "zero3", "fsdp", "hsdp", "tensor"}, {"mlp", "transformer"}},
    {{"pipeline"}, {"transformer"}},
    {{"dp"}, {"mlp"}},
    {{"expert", "ddp", "dp", "zero1", "zero2", "zero3", "pipeline"}, {"moe"}},
};

TEST_CASE("no strategy is left out") {
  for (const Strategy* strategy : strategies()) {
    CAPTURE(std::string(strategy->name));
    const bool is_compared = std::ranges::any_of(kEqualToSingle, [&](const Rivals& rivals) {
      return std::ranges::find(rivals.strategies, strategy->name) != rivals.strategies.end();
    });
    CHECK((is_compared || strategy == &kSingle));
  }
}

TEST_CASE("after 20 steps all have the parameters of single, which moved, and the loss fell") {
  const struct {
    const char* model;
    OptimizerKind optimizer;
    double learning_rate;
    double bound;  // rounding over 20 steps; Adam divides by small numbers
    double least_change;
  } table[] = {
      {"mlp", OptimizerKind::kSgd, 0.1, 1e-5, 1e-2},
      {"mlp", OptimizerKind::kAdam, 0.002, 1e-3, 1e-2},
      {"transformer", OptimizerKind::kSgd, 0.1, 1e-5, 1e-2},  // with dropout
      {"moe", OptimizerKind::kAdam, 0.005, 1e-4, 1e-2},
  };
  for (const auto& row : table) {
    const Task task = small_task(row.model);
    Plan plan = small_plan("single", 1);
    plan.optimizer = row.optimizer;
    plan.learning_rate = row.learning_rate;
    const Trained single = train(plan, task);
    CAPTURE(row.model);
    CAPTURE(name_of(row.optimizer));
    REQUIRE(single.losses.size() == kSteps);
    CHECK(largest_difference(single.after[0], single.before[0]) > row.least_change);
    CHECK(mean_of(single.losses, kSteps - 5, kSteps) < 0.97 * mean_of(single.losses, 0, 5));

    for (const Rivals& rivals : kEqualToSingle) {
      if (std::ranges::find(rivals.models, row.model) == rivals.models.end()) continue;
      for (const std::string& strategy : rivals.strategies) {
        for (const int ranks : world_sizes()) {
          plan.strategy = strategy;
          plan.ranks = ranks;
          CAPTURE(strategy);
          CAPTURE(ranks);
          check_equal(train(plan, task), single, row.bound);
        }
      }
    }
  }
}

TEST_CASE("clipped in every step, all strategies have the norms and parameters of single") {
  const int ranks = world_sizes().back();
  for (const char* model : {"mlp", "transformer", "moe"}) {
    const Task task = small_task(model);
    Plan plan = small_plan("single", 1);
    plan.learning_rate = 1;
    plan.clip_norm = 0.05;
    const Trained single = train(plan, task);
    CAPTURE(model);
    REQUIRE(single.norms.size() == kSteps);
    // Otherwise this shows nothing.
    CHECK(*std::ranges::min_element(single.norms) > 2 * plan.clip_norm);
    CHECK(largest_difference(single.after[0], single.before[0]) > 1e-2);
    for (const Rivals& rivals : kEqualToSingle) {
      if (std::ranges::find(rivals.models, model) == rivals.models.end()) continue;
      for (const std::string& strategy : rivals.strategies) {
        plan.strategy = strategy;
        plan.ranks = ranks;
        CAPTURE(strategy);
        const Trained together = train(plan, task);
        check_equal(together, single, 1e-5);
        REQUIRE(together.norms.size() == kSteps);
        for (std::size_t i = 0; i < kSteps; ++i)
          CHECK(together.norms[i] == doctest::Approx(single.norms[i]).epsilon(1e-3));
      }
    }
  }
}

TEST_CASE("in mixed precision gradients are clipped after they are divided by the loss scale") {
  for (const char* strategy : {"ddp", "zero2", "tensor", "pipeline", "dp", "expert"}) {
    const Task task = small_task(model_for(strategy));
    Plan plan = small_plan("single", 1);
    plan.clip_norm = 0.05;
    const double norm = train(plan, task).norms.front();
    plan.precision = Precision::kMixed;
    plan.ranks = std::min(world_sizes().back(), 2);
    plan.strategy = strategy;
    CAPTURE(std::string(strategy));
    const Trained trained = train(plan, task);
    REQUIRE(trained.norms.size() == kSteps);  // no step was skipped
    CHECK(trained.norms.front() == doctest::Approx(norm).epsilon(0.01));
  }
}

TEST_CASE("with every all-reduce of chapter 4, ddp has the parameters of single") {
  const Task task = small_task("mlp");
  const Trained single = train(small_plan("single", 1), task);
  for (const AllReduce& all_reduce : all_reduces()) {
    for (const int ranks : world_sizes()) {
      Plan plan = small_plan("ddp", ranks);
      plan.all_reduce = all_reduce.name;
      CAPTURE(plan.all_reduce);
      CAPTURE(ranks);
      check_equal(train(plan, task), single, 1e-5);
    }
  }
}

TEST_CASE("with batch norm too, ranks stay equal, and their metrics are one") {
  const Task task = small_task("convnet");
  for (const int ranks : world_sizes()) {
    const Trained ddp = train(small_plan("ddp", ranks), task);
    CAPTURE(ranks);
    for (const Values& rank : ddp.after) CHECK(rank == ddp.after[0]);
    CHECK(mean_of(ddp.losses, kSteps - 5, kSteps) < mean_of(ddp.losses, 0, 5));
    for (const Metrics& metrics : ddp.metrics) {
      CHECK(metrics.samples == kTestSamples);
      CHECK(metrics.loss == ddp.metrics[0].loss);
    }
  }
}

TEST_CASE("evaluation counts every sample once, for any number of ranks") {
  const Task task = small_task("mlp");
  const Metrics single = train(small_plan("single", 1), task).metrics[0];
  CHECK(single.samples == kTestSamples);
  CHECK(single.accuracy > 0);
  for (const int ranks : world_sizes()) {
    CAPTURE(ranks);
    for (const Metrics& metrics : train(small_plan("ddp", ranks), task).metrics) {
      CHECK(metrics.samples == kTestSamples);
      CHECK(std::lround(metrics.accuracy * kTestSamples) ==
            std::lround(single.accuracy * kTestSamples));
      CHECK(metrics.loss == doctest::Approx(single.loss).epsilon(1e-4));
    }
  }
}

TEST_CASE("one report per step, only from rank 0") {
  const Task task = small_task("mlp");
  for (const int ranks : world_sizes()) {
    const Plan plan = small_plan("ddp", ranks);
    std::atomic<int> reports = 0;
    std::atomic<int> others = 0;
    run_ranks({.world_size = ranks, .trace = false}, [&](Comm& dist) {
      const auto trainer = kDdp.make(dist, task.model, plan);
      trainer->start();
      const Listener listener = {.on_step = [&](const Position&, std::int64_t, const Metrics&) {
        ++(dist.rank() == 0 ? reports : others);
      }};
      Position position;
      run_loop(dist, *trainer, plan, task.data, Checkpointing(plan, task), listener, position);
      return position.steps;
    });
    CHECK(reports == (launch().is_first() ? kSteps : 0));
    CHECK(others == 0);
  }
}

TEST_CASE("a loss that is not finite ends the run in one line") {
  if (launch().processes > 1) return testing::pass_over("a failure ends the processes");
  const Task task = small_task("mlp");
  Plan plan = small_plan("single", 1);
  plan.learning_rate = 1e20;
  std::string message;
  try {
    train(plan, task);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.find("--learning-rate") != std::string::npos);
}

TEST_CASE("a strategy that does not exist is refused") {
  for (const Strategy* strategy : strategies()) CHECK(&strategy_named(strategy->name) == strategy);
  try {
    strategy_named("zero9");
    FAIL("there is none");
  } catch (const InvalidArgument& error) {
    const std::string line = error.what();
    CHECK(line.starts_with("--strategy zero9: "));
    for (const Strategy* strategy : strategies())
      CHECK(line.find(strategy->name) != std::string::npos);
  }
}

}  // namespace
}  // namespace rankbox::train
