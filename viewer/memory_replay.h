// A replay of what the calls of ranks did to memory, from the trace's notes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/trace.h"
#include "viewer/held_memory.h"
#include "viewer/messages.h"

namespace rankbox {

/// A tensor of a rank.
struct HeldTensor {
  int rank = 0;
  std::int64_t bytes = 0;
  HeldRuns runs;                // at the end
  bool is_early = false;        // allocated before its rank's first call ended
  bool takes_part = false;      // calls sent it, or filled it with what other ranks had
  bool is_contributed = false;  // calls read what its rank had put there
};

/// From the end of this event on these bytes hold this.
struct MemoryChange {
  static constexpr std::size_t kStart = SIZE_MAX;  // before the rank's first event
  EventId event;
  int tensor = 0;
  std::int64_t begin = 0;
  HeldRuns runs;
};

struct MemoryHistory {
  std::vector<HeldTensor> tensors;           // in the order of their allocation, rank by rank
  std::vector<MemoryChange> changes;         // of each rank in program order
  std::vector<std::vector<HeldRuns>> moved;  // [rank][event]: what a call sent, received or added
};

/// A rank's history ends at its first call that did not end. Empty if the replay would visit more
/// pieces than a picture needs. Cost: O(N c) for N notes and c pieces of a tensor.
///
/// REQUIRES: the trace has all events, and notes.
MemoryHistory replay_memory(const Trace& trace);

}  // namespace rankbox
