// Every order of steps that can make a difference, once each: dynamic partial-order reduction.
//
// Abdulla, Aronsson, Jonsson, Sagonas: Optimal dynamic partial order reduction (POPL 2014), with
// source sets and sleep sets. An execution's steps are compared afterwards: two of different
// threads on the same object, at least one of which changes it, and which nothing else orders, are
// a race. For each race a later execution takes the other order. Two executions that differ only in
// the order of independent steps are the same, and only one of them runs.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/interleave/clock.h"
#include "judge/interleave/control.h"
#include "judge/interleave/strategy.h"

namespace rankbox::interleave {

class Dpor : public Strategy {
 public:
  static constexpr int kMostThreads = 64;

  int choose(const Moment& moment) override;

  /// Plans what the execution that just ended leaves to explore. Returns false if nothing is left.
  bool next(const Execution& execution);

  /// The program did something else in the same schedule: it depends on more than the schedule.
  bool diverged() const { return diverged_; }

 private:
  using Threads = std::uint64_t;  // a set

  /// A state on the way to the current execution's end.
  struct Node {
    Threads ready = 0;
    Threads polling = 0;
    Threads asleep = 0;  // explored before, in a sibling, and nothing has made a difference since
    Threads backtrack = 0;  // to explore from here
    Threads done = 0;
    int chosen = 0;
  };

  static Threads set_of(int thread) { return Threads{1} << thread; }
  Threads asleep_after(const Node& node, const Moment& moment) const;
  void plan(const Execution& execution);
  void reverse(const std::vector<Step>& steps, const std::vector<Clock>& clocks, std::size_t first,
               std::size_t second);

  std::vector<Node> nodes_;  // [step]
  std::size_t depth_ = 0;
  bool cut_ = false;  // the rest of this execution was explored before
  bool diverged_ = false;
};

}  // namespace rankbox::interleave
