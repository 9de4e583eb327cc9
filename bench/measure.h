// The timing loop of all benchmarks, in this folder and in cli/gpu, so that Rankbox and its peers
// are measured in the same way.
//
// A block is a number of calls, back to back, that lasts about 5 ms; its time is that of
// the slowest rank, divided by the calls. The result is the median of many blocks: one
// preempted block does not move it. Agreeing on the slowest rank's time also lines the
// ranks up before the next block.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace rankbox::bench {

constexpr double kBlockSeconds = 5e-3;
constexpr double kWarmUpSeconds = 20e-3;
constexpr int kBlocks = 21;

inline double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// REQUIRES: at least one sample.
inline double median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

/// Returns the seconds that one call of `operation` takes, the same on every rank.
///
/// @param operation called on every rank the same number of times
/// @param max_over_ranks double -> double: the largest of the ranks' arguments, on every rank;
///                       synchronises them
template <class Operation, class MaxOverRanks>
double seconds_per_call(Operation operation, MaxOverRanks max_over_ranks) {
  const auto time_block = [&](int calls) {
    const double begin = now();
    for (int call = 0; call < calls; ++call) {
      operation();
    }
    return max_over_ranks(now() - begin);
  };

  // 1. Find how many calls make a block, which is also the warm-up. All ranks see the same times,
  //    so they agree.
  int calls = 1;
  double spent = max_over_ranks(0);
  for (double block = 0; block < kBlockSeconds || spent < kWarmUpSeconds; spent += block) {
    block = time_block(calls);
    if (block < kBlockSeconds) {
      calls *= 2;
    }
  }

  // 2. Measure.
  std::vector<double> samples;
  for (int block = 0; block < kBlocks; ++block) {
    samples.push_back(time_block(calls) / calls);
  }
  return median(samples);
}

}  // namespace rankbox::bench
