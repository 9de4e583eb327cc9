// A vector clock: how many steps of each thread happened before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rankbox::interleave {

class Clock {
 public:
  std::uint32_t of(int thread) const {
    const auto index = static_cast<std::size_t>(thread);
    return index < counts_.size() ? counts_[index] : 0;
  }

  void set(int thread, std::uint32_t count) {
    const auto index = static_cast<std::size_t>(thread);
    if (index >= counts_.size()) counts_.resize(index + 1);
    counts_[index] = count;
  }

  void join(const Clock& other) {
    if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < other.counts_.size(); ++i)
      counts_[i] = std::max(counts_[i], other.counts_[i]);
  }

 private:
  std::vector<std::uint32_t> counts_;
};

}  // namespace rankbox::interleave
