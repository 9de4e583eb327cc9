// Training small models in tests: what came of it on every rank, to be compared.
//
// The models learn from data of their own in 20 steps. Where tests are processes, all call the same, and all
// get the same results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/metrics.h"
#include "train/plan.h"
#include "train/strategies/strategy.h"
#include "train/task.h"

namespace rankbox::train {

using Values = std::vector<float>;

/// 20 full batches of 16, and 10 samples that make none; 53 more to judge on.
inline constexpr std::int64_t kSamples = 330;
inline constexpr std::int64_t kSteps = 20;
inline constexpr std::int64_t kTestSamples = 53;

/// "mlp", "convnet" or "transformer".
Task small_task(const std::string& name);
Plan small_plan(const char* strategy, int ranks);

/// What a run left.
struct Trained {
  std::vector<Values> before;  // [rank] parameters of the whole model, or nothing
  std::vector<Values> after;
  std::vector<double> losses;    // of each step, as all ranks' processes know them
  std::vector<Metrics> metrics;  // [rank] over the test samples
};

/// Blocks. Throws as run_loop does, and for a plan that cannot be followed.
Trained train(const Plan& plan, const Task& task);

/// Checks, in a running test case, that both began alike and came to the same, up to rounding; on one rank
/// to the bit.
void check_equal(const Trained& together, const Trained& single, double bound);

double largest_difference(const Values& a, const Values& b);

/// Of losses [begin, end).
double mean_of(const std::vector<double>& losses, std::size_t begin, std::size_t end);

/// Of 1, 2 and 4 those that can be run: of threads, any; of processes, as many as there are.
std::vector<int> world_sizes();

}  // namespace rankbox::train
