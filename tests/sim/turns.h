// Takes a program through every order in which its ranks can take their steps.
//
// Ranks are fibers of one thread. Before each step a rank waits for its turn; a turn is given once
// no step under way can go on by itself. So a schedule is a list of choices among the ranks that
// have a step to take, and the same choices lead to the same run. Schedules are visited depth first
// by their last choice, each by a run from the beginning.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace rankbox::testing {

class Turns {
 public:
  /// Begins a run of the current schedule.
  void begin(int world_size);

  /// On a rank: waits until it may take its next step.
  void wait_for_turn(int rank);

  /// On a rank: it takes no more steps.
  void end(int rank);

  /// After a run: moves on to the next schedule. Returns false if all have been visited.
  bool next();

 private:
  struct Choice {
    std::vector<int> ranks;  // that have a step to take
    std::size_t taken = 0;   // index into them
  };

  void give_turn();

  std::vector<Choice> choices_;  // of the current schedule; a run adds what is beyond its end
  std::size_t depth_ = 0;        // choices that this run has made
  std::vector<bool> waiting_;    // [rank]
  int turn_ = -1;                // whose turn it is; -1: no rank's
  int quiet_ = 0;                // looks at the turn since a rank last came or ended
};

/// Returns how many schedules it visited: calls `run` for each, or for the first `most` of them.
int for_each_order(int most, const std::function<void(Turns&)>& run);

}  // namespace rankbox::testing
