// Strategies train the same model, exactly as far as arithmetic allows, and ranks stay equal.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cli/train/evaluate.h"
#include "cli/train/loop.h"
#include "cli/train/mixed_precision.h"
#include "comm/float16.h"
#include "comm/run_ranks.h"
#include "training/data/digits.h"
#include "training/data/sentences.h"
#include "training/models/conv_net.h"
#include "training/models/mlp.h"
#include "training/models/text_transformer.h"

namespace rankbox::train {
namespace {

using Values = std::vector<float>;

/// 20 full batches of 16, and 10 samples that make none.
constexpr std::int64_t kSamples = 330;
constexpr std::int64_t kSteps = 20;

/// Small models with data of their own, by name.
Task small_task(const std::string& name) {
  Task task;
  task.model_name = "small " + name;
  if (name == "transformer") {
    TextSplit texts = sentences({.train = kSamples, .test = 53, .longest = 12});
    task.data = std::move(texts.split);
    task.model = text_transformer({.vocabulary = texts.vocabulary,
                                   .longest = 12,
                                   .width = 16,
                                   .heads = 4,
                                   .feed_forward = 16,
                                   .blocks = 1});
    return task;
  }
  task.data = digits({.train = kSamples, .test = 53});
  task.model = name == "convnet" ? conv_net({.filters1 = 2, .filters2 = 4}) : mlp({.hidden = {32}});
  return task;
}

Plan small_plan(const char* strategy, int ranks) {
  Plan plan;
  plan.strategy = strategy;
  plan.ranks = ranks;
  plan.batch = 16;
  plan.learning_rate = 0.05;
  return plan;
}

/// Of the whole model: on rank 0, and on the others if they have one. All ranks call it.
Values values_of(Trainer& trainer) {
  trainer.gather();
  Values all;
  for (const Parameter* parameter : trainer.parameters()) {
    const Values values = to_host(parameter->value);
    all.insert(all.end(), values.begin(), values.end());
  }
  trainer.release();
  return all;
}

struct Trained {
  std::vector<Values> before;  // [rank] parameters, or nothing
  std::vector<Values> after;
  std::vector<double> losses;    // of each step, as all ranks' processes know them
  std::vector<Metrics> metrics;  // [rank] over the 53 test samples
};

Trained train(const Plan& plan, const Task& task) {
  using Result = std::tuple<Values, Values, std::vector<double>, double, double, std::int64_t>;
  const auto run = run_ranks({.world_size = plan.ranks, .trace = false}, [&](Comm& dist) {
    const auto trainer = strategy_named(plan.strategy).make(dist, task.model, plan);
    trainer->start();
    Result result;
    std::get<0>(result) = values_of(*trainer);
    const Listener listener = {.on_step = [&](const Position&, std::int64_t, const Metrics& batch) {
      std::get<2>(result).push_back(batch.loss);
    }};
    Position position;
    run_loop(dist, *trainer, plan, task.data, Checkpointing(plan, task), listener, position);
    std::get<1>(result) = values_of(*trainer);
    const Metrics metrics = evaluate(dist, *trainer, task.data.test);
    std::get<3>(result) = metrics.loss;
    std::get<4>(result) = metrics.accuracy;
    std::get<5>(result) = metrics.samples;
    return result;
  });
  Trained trained;
  trained.losses = std::get<2>(run.results.front());
  for (const Result& result : run.results) {
    trained.before.push_back(std::get<0>(result));
    trained.after.push_back(std::get<1>(result));
    trained.metrics.push_back({std::get<3>(result), std::get<4>(result), std::get<5>(result)});
  }
  return trained;
}

double largest_difference(const Values& a, const Values& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

double mean_of(const std::vector<double>& losses, std::size_t begin, std::size_t end) {
  return std::accumulate(losses.begin() + static_cast<std::ptrdiff_t>(begin),
                         losses.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
         static_cast<double>(end - begin);
}

/// Worlds that can be run: of threads, any; of processes, as many as there are.
std::vector<int> world_sizes() {
  std::vector<int> sizes = {1, 2, 4};
  const int processes = launch().processes;
  if (processes > 0) std::erase_if(sizes, [processes](int size) { return size > processes; });
  return sizes;
}

void check_equal(const Trained& together, const Trained& single, double bound) {
  CHECK(largest_difference(together.before[0], single.before[0]) == 0);
  const bool alone = together.after.size() == 1;
  CHECK(largest_difference(together.after[0], single.after[0]) <= (alone ? 0 : bound));
  REQUIRE(together.losses.size() == kSteps);
  for (std::size_t i = 0; i < kSteps; ++i)
    CHECK(together.losses[i] == doctest::Approx(single.losses[i]).epsilon(1e-3));
  for (const Values& rank : together.after) {
    if (!rank.empty()) CHECK(rank == together.after[0]);
  }
  for (const Metrics& metrics : together.metrics)
    CHECK(metrics.loss == doctest::Approx(single.metrics[0].loss).epsilon(1e-3));
}

/// Of strategies that come to what single comes to; and the models that they are tried on.
struct Rivals {
  std::vector<std::string> strategies;
  std::vector<std::string> models;
};
const Rivals kEqualToSingle[] = {
    {{"ddp", "zero1", "zero2", "zero3", "tensor"}, {"mlp", "transformer"}},
    {{"pipeline"}, {"transformer"}},
    {{"dp"}, {"mlp"}},
};

TEST_CASE("no strategy is left out of that") {
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
    double bound;  // rounding, 20 steps long; Adam divides by what may be tiny
    double least_change;
  } table[] = {
      {"mlp", OptimizerKind::kSgd, 0.1, 1e-5, 1e-2},
      {"mlp", OptimizerKind::kAdam, 0.002, 1e-3, 1e-2},
      {"transformer", OptimizerKind::kSgd, 0.1, 1e-5, 1e-2},  // with dropout
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

TEST_CASE("tensor says in one line what cannot be dealt out") {
  if (launch().processes > 0 && launch().processes < 2) return;
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
  CHECK(refusal(task, plan) ==
        "--ranks 2: tensor deals out 9 columns of fc1 to the ranks, equally; give a number that "
        "divides 9");
  task.model = text_transformer({.vocabulary = 9, .width = 12, .heads = 3});
  CHECK(refusal(task, plan) ==
        "--ranks 2: tensor deals out 3 heads to the ranks, equally; give a number that divides 3");
  plan.model = "convnet";
  CHECK(refusal(small_task("convnet"), plan).starts_with("--model convnet: has no two linear"));
}

TEST_CASE(
    "a pipeline of as many stages as the model has layers, or fewer, learns what single does") {
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
      CHECK(metrics.samples == 53);
      CHECK(metrics.loss == pipeline.metrics[0].loss);
    }
  }
}

TEST_CASE("more stages than layers are refused in one line") {
  if (launch().processes > 0 && launch().processes < 4) return;
  std::string message;
  try {
    train(small_plan("pipeline", 4), small_task("mlp"));
  } catch (const InvalidArgument& error) {
    message = error.what();
  }
  CHECK(
      message ==
      "--ranks 4: pipeline gives each rank a stage of the model, which has 3 layers; give --ranks "
      "3 at most");
}

TEST_CASE("with batch norm too, ranks stay equal, and their metrics are one") {
  const Task task = small_task("convnet");
  for (const int ranks : world_sizes()) {
    const Trained ddp = train(small_plan("ddp", ranks), task);
    CAPTURE(ranks);
    for (const Values& rank : ddp.after) CHECK(rank == ddp.after[0]);
    CHECK(mean_of(ddp.losses, kSteps - 5, kSteps) < mean_of(ddp.losses, 0, 5));
    for (const Metrics& metrics : ddp.metrics) {
      CHECK(metrics.samples == 53);
      CHECK(metrics.loss == ddp.metrics[0].loss);
    }
  }
}

TEST_CASE("evaluation counts every sample once, whatever the number of ranks") {
  const Task task = small_task("mlp");
  const Metrics single = train(small_plan("single", 1), task).metrics[0];
  CHECK(single.samples == 53);
  CHECK(single.accuracy > 0);
  for (const int ranks : world_sizes()) {
    CAPTURE(ranks);
    for (const Metrics& metrics : train(small_plan("ddp", ranks), task).metrics) {
      CHECK(metrics.samples == 53);
      CHECK(std::lround(metrics.accuracy * 53) == std::lround(single.accuracy * 53));
      CHECK(metrics.loss == doctest::Approx(single.loss).epsilon(1e-4));
    }
  }
}

TEST_CASE(
    "in mixed precision the same is learnt, but for what 16 bits lose, and ranks stay equal") {
  for (const char* model : {"mlp", "convnet"}) {
    const Task task = small_task(model);
    const Trained fp32 = train(small_plan("single", 1), task);
    Plan plan = small_plan("single", 1);
    plan.precision = Precision::kMixed;
    const Trained single = train(plan, task);
    CAPTURE(model);
    const double moved = largest_difference(fp32.after[0], fp32.before[0]);
    const double off = largest_difference(single.after[0], fp32.after[0]);
    CHECK(off > 0);
    CHECK(off < 0.05 * moved);

    plan.strategy = "ddp";
    for (const int ranks : world_sizes()) {
      CAPTURE(ranks);
      plan.ranks = ranks;
      const Trained ddp = train(plan, task);
      for (const Values& rank : ddp.after) CHECK(rank == ddp.after[0]);
      if (std::string(model) == "mlp")
        CHECK(largest_difference(ddp.after[0], single.after[0]) < 0.02 * moved);
    }
  }
}

TEST_CASE("where one rank's gradients overflow, all skip, with the masters as they were") {
  for (const int ranks : world_sizes()) {
    run_ranks({.world_size = ranks, .trace = false}, [&](Comm& dist) {
      LossScale start;
      start.scale = 1024;
      start.good_steps = 5;
      MixedPrecision mixed(start);
      Parameter weight{"weight", from_host({1.0f, 0.1f})};
      float seen = 0;
      // 100 · 1024 is more than 16 bits hold; and only the last rank has it.
      const bool large = dist.rank() == ranks - 1;
      const auto find = [&](float factor) {
        seen = weight.value.data()[1];
        gradient_of(weight).data()[0] = (large ? 100.0f : 1.0f) * factor;
        gradient_of(weight).data()[1] = 0;
        return Loss{};
      };
      bool skip = false;
      mixed.find_gradients(dist, {&weight}, find, skip);
      CHECK(skip);
      CHECK(mixed.scale() == 512);
      CHECK(seen == static_cast<float>(Float16(0.1f)));  // forward sees what 16 bits hold of it
      CHECK(weight.value.data()[1] == 0.1f);

      mixed.find_gradients(dist, {&weight}, find, skip);
      CHECK(!skip);
      const auto p = static_cast<float>(ranks);
      CHECK(weight.gradient.data()[0] == (p - 1 + 100) / p);
      return 0;
    });
  }
}

TEST_CASE("one report a step, from rank 0 alone") {
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

TEST_CASE("a loss that is no number ends the run in one line") {
  const Task task = small_task("mlp");
  Plan plan = small_plan("single", 1);
  plan.learning_rate = 1e20;
  std::string message;
  try {
    train(plan, task);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.find("the loss is ") != std::string::npos);
  CHECK(message.find("--learning-rate") != std::string::npos);
}

TEST_CASE("a strategy that does not exist is told from those that do") {
  for (const Strategy* strategy : strategies()) CHECK(&strategy_named(strategy->name) == strategy);
  try {
    strategy_named("zero9");
    FAIL("there is none");
  } catch (const InvalidArgument& error) {
    const std::string line = error.what();
    CHECK(line.starts_with("--strategy zero9: there is no such strategy, only single, dp, ddp, "));
    for (const Strategy* strategy : strategies())
      CHECK(line.find(strategy->name) != std::string::npos);
  }
}

}  // namespace
}  // namespace rankbox::train
