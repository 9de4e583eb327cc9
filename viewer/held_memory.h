// Runs of memory with equal contents, for the replay of what ranks hold (holdings.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "comm/reduce_op.h"

namespace rankbox {

/// Which ranks' data a piece of memory holds, and where these were first.
struct HeldContents {
  enum class State : std::uint8_t { kUntouched, kZero, kHeld };

  static HeldContents unheld(State state, std::size_t since) {
    HeldContents contents;
    contents.state = state;
    contents.since = since;
    return contents;
  }

  State state = State::kUntouched;
  // kUntouched, kZero: the event of its rank after which it was allocated or filled.
  std::size_t since = 0;
  // The rest is of kHeld.
  std::map<int, int> from;       // how often what a rank first had in this tensor was added
  int home = -1;                 // the tensor that the data were in first
  std::int64_t home_offset = 0;  // of the first byte, in that tensor
  bool is_unread = false;        // no call has read it since it arrived
};

/// Consecutive bytes of equal contents.
struct HeldRun {
  std::int64_t bytes = 0;
  HeldContents contents;
};

using HeldRuns = std::vector<HeldRun>;  // one after the other

/// Returns bytes [begin, end) of the runs; fewer if they are shorter.
HeldRuns part_of(const HeldRuns& runs, std::int64_t begin, std::int64_t end);

/// Overwrites the bytes from `begin` on. REQUIRES: they are within `runs`.
void overwrite(HeldRuns& runs, std::int64_t begin, const HeldRuns& with);

/// Returns into op from: the contributions of both, at home where `into` is. Zeros contribute
/// nothing to SUM and AVG. What only one of them has is left out.
HeldRuns combined(const HeldRuns& into, const HeldRuns& from, ReduceOp op);

/// Calls fn(begin, run) for each run.
template <class Fn>
void for_each_run(const HeldRuns& runs, Fn fn) {
  std::int64_t begin = 0;
  for (const HeldRun& run : runs) {
    fn(begin, run);
    begin += run.bytes;
  }
}

}  // namespace rankbox
