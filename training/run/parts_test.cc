// Strategies whose ranks hold parts of the layers: tensor and pipeline, on models of any depth.
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"
#include "training/data/digits.h"
#include "training/models/mlp.h"
#include "training/models/text_transformer.h"
#include "training/run/session.h"
#include "training/run/trained.h"

namespace rankbox::train {
namespace {

TEST_CASE("tensor cuts pairs of linear layers in a model of any depth, and leaves the rest whole") {
  for (const std::vector<std::int64_t>& hidden :
       std::vector<std::vector<std::int64_t>>{{8}, {8, 12}, {8, 12, 16}, {8, 12, 16, 20}}) {
    CAPTURE(hidden.size());
    Task task = small_task("mlp");
    task.model = mlp({.hidden = hidden});
    const Trained single = train(small_plan("single", 1), task);
    for (const int ranks : world_sizes()) {
      CAPTURE(ranks);
      check_equal(train(small_plan("tensor", ranks), task), single, 1e-5);
    }
  }
}

TEST_CASE("tensor refuses in one line what it cannot shard") {
  if (launch().processes > 0) return testing::pass_over("a refusal ends the processes");
  const auto refusal = [](const Task& task, const Plan& plan) -> std::string {
    try {
      train(plan, task);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "none";
  };
  Plan plan = small_plan("tensor", 2);
  Task task = small_task("mlp");
  task.model = mlp({.hidden = {9}});
  CHECK(testing::lacks(refusal(task, plan), {"--ranks 2", "9", "fc1"}) == "");
  task.model = text_transformer({.vocabulary = 9, .width = 12, .heads = 3});
  CHECK(testing::lacks(refusal(task, plan), {"--ranks 2", "3 heads"}) == "");
  plan.model = "convnet";
  CHECK(refusal(small_task("convnet"), plan).starts_with("--model convnet: "));
}

TEST_CASE("expert refuses in one line what it cannot spread over the ranks") {
  if (launch().processes > 0) return testing::pass_over("a refusal ends the processes");
  const struct {
    const char* model;
    int ranks;
    std::vector<std::string> parts;
  } table[] = {{"moe", 3, {"--ranks 3", "8"}},
               {"moe", 16, {"--ranks 16", "8"}},
               {"mlp", 2, {"--model mlp", "--model moe"}}};
  for (const auto& row : table) {
    CAPTURE(std::string(row.model));
    CAPTURE(row.ranks);
    Plan plan = small_plan("expert", row.ranks);
    plan.batch = 48;
    plan.model = row.model;
    std::string line = "none";
    try {
      train(plan, small_task(row.model));
    } catch (const InvalidArgument& error) {
      line = error.what();
    }
    CHECK(testing::lacks(line, row.parts) == "");
  }
}

TEST_CASE("experts' loads are those of single, whatever the strategy: two rows for each sample") {
  if (launch().processes > 0) return testing::pass_over("single runs on one rank");
  Task task = small_task("moe");
  task.data.test = digits({.train = 1, .test = 52}).test;  // four equal shares, without padding
  const auto loads_of = [&](const char* strategy, int ranks) {
    return run_session(small_plan(strategy, ranks), task, {}).expert_loads;
  };
  const std::vector<std::int64_t> single = loads_of("single", 1);
  REQUIRE(single.size() == 8);
  CHECK(std::accumulate(single.begin(), single.end(), std::int64_t{0}) == 2 * 52);
  for (const char* strategy : {"expert", "ddp", "zero3", "pipeline"}) {
    CAPTURE(std::string(strategy));
    CHECK(loads_of(strategy, 4) == single);
  }
  CHECK(run_session(small_plan("single", 1), small_task("mlp"), {}).expert_loads.empty());
}

TEST_CASE("a pipeline of at most as many stages as layers learns what single does") {
  Task task = small_task("mlp");
  task.model = mlp({.hidden = {32, 16}});  // five layers
  for (const OptimizerKind optimizer : {OptimizerKind::kSgd, OptimizerKind::kAdam}) {
    Plan plan = small_plan("single", 1);
    plan.optimizer = optimizer;
    plan.learning_rate = optimizer == OptimizerKind::kSgd ? 0.2 : 0.005;
    const Trained single = train(plan, task);
    CAPTURE(name_of(optimizer));
    CHECK(largest_difference(single.after[0], single.before[0]) > 1e-2);
    CHECK(mean_of(single.losses, kSteps - 5, kSteps) < 0.97 * mean_of(single.losses, 0, 5));
    plan.strategy = "pipeline";
    for (const int ranks : {1, 2, 3, 4, 5}) {
      if (launch().processes > 0 && launch().processes < ranks) continue;
      plan.ranks = ranks;
      CAPTURE(ranks);
      check_equal(train(plan, task), single, optimizer == OptimizerKind::kSgd ? 1e-5 : 1e-3);
    }
  }
}

TEST_CASE("a pipeline normalizes its micro-batches, evaluates every sample once, and learns") {
  const Task task = small_task("convnet");
  for (const int ranks : world_sizes()) {
    CAPTURE(ranks);
    const Trained pipeline = train(small_plan("pipeline", ranks), task);
    CHECK(mean_of(pipeline.losses, kSteps - 5, kSteps) < mean_of(pipeline.losses, 0, 5));
    for (const Metrics& metrics : pipeline.metrics) {
      CHECK(metrics.samples == kTestSamples);
      CHECK(metrics.loss == pipeline.metrics[0].loss);
    }
  }
}

TEST_CASE("more stages than layers are refused in one line") {
  if (launch().processes > 0) return testing::pass_over("a refusal ends the processes");
  std::string message;
  try {
    train(small_plan("pipeline", 4), small_task("mlp"));
  } catch (const InvalidArgument& error) {
    message = error.what();
  }
  CHECK(testing::lacks(message, {"--ranks 4", "3 layers", "--ranks 3"}) == "");
}

}  // namespace
}  // namespace rankbox::train
