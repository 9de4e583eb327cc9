// Twenty steps of each strategy end where they end on the host, whatever computes them.
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"
#include "training/run/trained.h"

namespace rankbox::train {
namespace {

struct Run {
  const char* strategy;
  int ranks;
};

struct Row {
  const char* model;
  std::vector<Run> runs;  // all end alike
  // In the sandbox, with OpenBLAS: the mean loss over all steps, that of the last, the mean of the
  // parameters' magnitudes at the end, and the loss of the test samples.
  double mean_loss, last_loss, magnitude, test_loss;
};

TEST_CASE("twenty steps of a strategy give the losses and parameters that the host gives") {
  const Row rows[] = {
      {"mlp",
       {{"single", 1},
        {"dp", 2},
        {"ddp", 4},
        {"zero1", 2},
        {"zero2", 4},
        {"zero3", 2},
        {"fsdp", 2},
        {"hsdp", 4},
        {"tensor", 2},
        {"tensor", 4},
        {"pipeline", 2}},
       2.23101,
       2.14874,
       0.0199242,
       2.07117},
      {"transformer",
       {{"single", 1},
        {"ddp", 2},
        {"zero1", 2},
        {"zero2", 2},
        {"zero3", 4},
        {"fsdp", 4},
        {"hsdp", 4},
        {"tensor", 4},
        {"pipeline", 2}},
       0.763486,
       0.74605,
       0.0951448,
       0.693128},
      {"moe",
       {{"single", 1}, {"ddp", 4}, {"expert", 2}, {"expert", 4}},
       2.24949,
       2.08229,
       0.0862356,
       2.1105},
      // Batch norm normalizes each rank's share, or each micro-batch.
      {"convnet", {{"single", 1}}, 1.97647, 1.18544, 0.077474, 1.11134},
      {"convnet", {{"dp", 2}}, 1.97245, 1.21227, 0.0769132, 1.10088},
      {"convnet", {{"ddp", 2}, {"zero2", 2}, {"zero3", 2}}, 1.98575, 1.1977, 0.0769015, 1.09149},
      {"convnet", {{"zero1", 4}}, 1.98059, 1.34113, 0.0788846, 1.32072},
      {"convnet", {{"pipeline", 4}}, 2.02161, 1.32029, 0.0768666, 1.073},
  };
  for (const Row& row : rows) {
    const Task task = small_task(row.model);
    for (const auto& [strategy, ranks] : row.runs) {
      const std::string name = fmt::format("{}_{}", row.model, strategy);
      if (!testing::wants_row(name)) continue;
      if (launch().processes > 0 && launch().processes < ranks) continue;
      CAPTURE(name);
      CAPTURE(ranks);
      Plan plan = small_plan(strategy, ranks);
      if (const std::string model = row.model; model == "transformer" || model == "moe") {
        plan.optimizer = OptimizerKind::kAdam;
        plan.learning_rate = 0.005;
      }
      const Trained trained = train(plan, task);
      REQUIRE(trained.losses.size() == kSteps);
      double sum = 0;
      for (const float value : trained.after[0]) sum += std::abs(value);
      const double magnitude = sum / static_cast<double>(trained.after[0].size());
      CHECK(mean_of(trained.losses, 0, kSteps) ==
            doctest::Approx(row.mean_loss).epsilon(1e-4).scale(0));
      CHECK(trained.losses.back() == doctest::Approx(row.last_loss).epsilon(1e-4).scale(0));
      CHECK(magnitude == doctest::Approx(row.magnitude).epsilon(1e-4).scale(0));
      for (const Metrics& metrics : trained.metrics)
        CHECK(metrics.loss == doctest::Approx(row.test_loss).epsilon(1e-4).scale(0));
    }
  }
}

}  // namespace
}  // namespace rankbox::train
