#include "judge/interleave/pct.h"

#include <algorithm>
#include <cstddef>

#include "judge/interleave/operation.h"

namespace rankbox::interleave {

namespace {

// The library's distributions differ from one to another.
std::int64_t below(std::mt19937_64& random, std::int64_t bound) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
}

bool would_yield(const Moment& moment, int thread) {
  const Operation* next = moment.next[static_cast<std::size_t>(thread)];
  return next != nullptr && next->action == Action::kYield;
}

}  // namespace

Pct::Pct(std::uint64_t seed, std::int64_t steps, int long_run)
    : random_(seed), long_run_(long_run) {
  for (int i = 1; i < kDepth; ++i)
    changes_.push_back(below(random_, std::max<std::int64_t>(steps, 1)));
  std::ranges::sort(changes_);
}

int Pct::choose(const Moment& moment) {
  while (priorities_.size() < moment.next.size())
    priorities_.push_back(1 + below(random_, std::int64_t{1} << 60));
  std::int64_t& running = priorities_[static_cast<std::size_t>(moment.current)];
  // A loop that waits for another thread must not keep it from running.
  const bool is_unfair = moment.run % long_run_ == long_run_ - 1;
  if (is_unfair || would_yield(moment, moment.current)) running = --lowest_;
  while (!changes_.empty() && changes_.front() <= moment.steps) {
    running = --lowest_;
    changes_.erase(changes_.begin());
  }
  return *std::ranges::max_element(
      moment.ready, {}, [&](int thread) { return priorities_[static_cast<std::size_t>(thread)]; });
}

int RandomWalk::choose(const Moment& moment) {
  const bool is_ready = std::ranges::binary_search(moment.ready, moment.current);
  if (--left_ > 0 && is_ready && !would_yield(moment, moment.current)) return moment.current;
  left_ = 1 + static_cast<int>(below(random_, 2 * std::int64_t{run_}));
  return moment.ready[static_cast<std::size_t>(
      below(random_, static_cast<std::int64_t>(moment.ready.size())))];
}

}  // namespace rankbox::interleave
