// Probabilistic concurrency testing: random priorities, with few changes.
//
// Burckhardt, Kothari, Musuvathi, Nagarakatte: A randomized scheduler with probabilistic guarantees
// of finding bugs (ASPLOS 2010). The ready thread of the highest priority runs. At depth - 1 random
// steps the running thread gets the lowest priority. A mistake that takes d orderings to show is
// found with a probability of at least 1 / (n k^(d-1)), for n threads and k steps.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "judge/interleave/strategy.h"

namespace rankbox::interleave {

class Pct : public Strategy {
 public:
  static constexpr int kDepth = 3;

  /// @param steps about as many as the program takes
  /// @param long_run a thread that takes this many at once may poll, and gets the lowest priority
  Pct(std::uint64_t seed, std::int64_t steps, int long_run);

  int choose(const Moment& moment) override;

 private:
  std::mt19937_64 random_;
  const int long_run_;
  std::vector<std::int64_t> changes_;     // steps, ascending
  std::vector<std::int64_t> priorities_;  // [thread], unique
  std::int64_t lowest_ = 0;
};

/// Switches to a random thread now and then: every few steps at first, seldom in a long program.
class RandomWalk : public Strategy {
 public:
  RandomWalk(std::uint64_t seed, int run) : random_(seed), run_(run) {}

  int choose(const Moment& moment) override;

 private:
  std::mt19937_64 random_;
  int run_;  // steps between two switches, on average
  int left_ = 0;
};

}  // namespace rankbox::interleave
