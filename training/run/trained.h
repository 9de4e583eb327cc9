// Trains small models in tests, and returns the results of every rank.
//
// The models learn from generated data in 20 steps. If ranks are processes, all call the same
// functions and get the same results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/run/evaluate.h"
#include "training/run/plan.h"
#include "training/run/strategies/strategy.h"
#include "training/run/task.h"

namespace rankbox::train {

using Values = std::vector<float>;

/// 20 full batches of 16, and 10 more samples that do not fill one; 53 test samples.
inline constexpr std::int64_t kSamples = 330;
inline constexpr std::int64_t kSteps = 20;
inline constexpr std::int64_t kTestSamples = 53;

/// Returns the task "mlp", "convnet", "transformer" or "moe".
Task small_task(const std::string& name);
/// Returns the model with which every strategy is tested: one that it can share.
const char* model_for(std::string_view strategy);
Plan small_plan(const char* strategy, int ranks);

/// The results of a run.
struct Trained {
  std::vector<Values> before;  // [rank] parameters of the whole model, or nothing
  std::vector<Values> after;
  std::vector<double> losses;       // of each step, known to all ranks' processes
  std::vector<double> norms;        // of each step's gradients, with Plan::clip_norm
  std::vector<Evaluation> metrics;  // [rank] over the test samples
};

/// Blocks until training is done. Throws as run_loop does, and for an impossible plan.
Trained train(const Plan& plan, const Task& task);

/// Checks, in a running test case, that both started and ended with the same values, up to
/// rounding; on one rank to the bit.
void check_equal(const Trained& together, const Trained& single, double bound);

double largest_difference(const Values& a, const Values& b);

/// Returns the mean of losses [begin, end).
double mean_of(const std::vector<double>& losses, std::size_t begin, std::size_t end);

/// Returns those of 1, 2 and 4 that can run here: all with threads, with processes as many as there
/// are. On emulated GPUs 1 and 4.
std::vector<int> world_sizes();

}  // namespace rankbox::train
