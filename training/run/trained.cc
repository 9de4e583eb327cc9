#include "training/run/trained.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "compute/portable.h"
#include "training/data/digits.h"
#include "training/data/sentences.h"
#include "training/models/conv_net.h"
#include "training/models/mlp.h"
#include "training/models/text_transformer.h"
#include "training/run/evaluate.h"
#include "training/run/loop.h"
#include "training/run/moe_model.h"

namespace rankbox::train {
namespace {

/// Returns the whole model's parameters, on rank 0 and on other ranks that have them. All ranks
/// call it.
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

}  // namespace

Task small_task(const std::string& name) {
  Task task;
  task.model_name = "small " + name;
  if (name == "transformer") {
    TextSplit texts = sentences({.train = kSamples, .test = kTestSamples, .longest = 12});
    task.data = std::move(texts.split);
    task.model = text_transformer({.vocabulary = texts.vocabulary,
                                   .longest = 12,
                                   .width = 16,
                                   .heads = 4,
                                   .feed_forward = 16,
                                   .blocks = 1});
    return task;
  }
  task.data = digits({.train = kSamples, .test = kTestSamples});
  if (name == "moe") {
    task.model = moe({.width = 32});
    task.experts = 8;
    return task;
  }
  task.model = name == "convnet" ? conv_net({.filters1 = 2, .filters2 = 4}) : mlp({.hidden = {32}});
  return task;
}

const char* model_for(std::string_view strategy) { return strategy == "expert" ? "moe" : "mlp"; }

Plan small_plan(const char* strategy, int ranks) {
  Plan plan;
  plan.strategy = strategy;
  plan.ranks = ranks;
  plan.batch = 16;
  plan.learning_rate = 0.05;
  return plan;
}

Trained train(const Plan& plan, const Task& task) {
  using Result = std::tuple<Values, Values, std::vector<double>, double, double, std::int64_t,
                            double, std::vector<double>>;
  // hsdp needs nodes to differ from fsdp.
  const int nodes = plan.strategy == "hsdp" && plan.ranks % 2 == 0 ? 2 : plan.nodes;
  const RunOptions options = {.world_size = plan.ranks, .nodes = nodes, .trace = false};
  const auto run = run_ranks(options, [&](Comm& dist) {
    const auto trainer = strategy_named(plan.strategy).make(dist, task.model, plan);
    trainer->start();
    Result result;
    std::get<0>(result) = values_of(*trainer);
    const Listener listener = {
        .on_step = [&](const Position&, std::int64_t, const StepMetrics& batch) {
          std::get<2>(result).push_back(batch.loss);
          if (batch.gradient_norm) std::get<7>(result).push_back(*batch.gradient_norm);
        }};
    Position position;
    run_loop(dist, *trainer, plan, task.data, Checkpointing(plan, task), listener, position);
    std::get<1>(result) = values_of(*trainer);
    const Evaluation metrics = evaluate(dist, *trainer, task.data.test);
    std::get<3>(result) = metrics.loss;
    std::get<4>(result) = metrics.accuracy;
    std::get<5>(result) = metrics.samples;
    std::get<6>(result) = metrics.f1;
    return result;
  });
  Trained trained;
  trained.losses = std::get<2>(run.results.front());
  trained.norms = std::get<7>(run.results.front());
  for (const Result& result : run.results) {
    trained.before.push_back(std::get<0>(result));
    trained.after.push_back(std::get<1>(result));
    trained.metrics.push_back(
        {{std::get<3>(result), std::get<4>(result), std::get<5>(result)}, std::get<6>(result)});
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

std::vector<int> world_sizes() {
  std::vector<int> sizes = {1, 2, 4};
  // Emulated GPUs are slow.
  if (kOnGpu && std::getenv("RANKBOX_EMULATED_GPUS") != nullptr) sizes = {1, 4};
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

}  // namespace rankbox::train
