// The states of all ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "sim/huge_pages.h"
#include "sim/in_parts.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

/// An array of states, which cannot be moved: other ranks keep their addresses.
class RankStates {
 public:
  /// @param make constructs the state of a rank at `place`, on any thread; must not throw
  RankStates(int count, const std::function<void(RankState* place, int rank)>& make)
      : count_(static_cast<std::size_t>(count)),
        states_(static_cast<RankState*>(
            huge_pages()->allocate(count_ * sizeof(RankState), alignof(RankState)))) {
    in_parts(count_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t rank = begin; rank < end; ++rank)
        make(states_ + rank, static_cast<int>(rank));
    });
  }
  RankStates(const RankStates&) = delete;
  RankStates& operator=(const RankStates&) = delete;
  ~RankStates() {
    in_parts(count_, [this](std::size_t first, std::size_t last) {
      std::destroy(states_ + first, states_ + last);
    });
    huge_pages()->deallocate(states_, count_ * sizeof(RankState), alignof(RankState));
  }

  RankState& operator[](std::size_t rank) { return states_[rank]; }
  std::size_t size() const { return count_; }
  RankState* begin() { return states_; }
  RankState* end() { return states_ + count_; }
  const RankState* begin() const { return states_; }
  const RankState* end() const { return states_ + count_; }

 private:
  const std::size_t count_;
  RankState* const states_;
};

}  // namespace rankbox::sim
