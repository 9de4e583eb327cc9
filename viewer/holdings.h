// What each rank holds, piece by piece: which ranks contributed to it, and since which event.
//
// Example, an all-reduce by a ring with p = 4: each rank has one buffer of four pieces. At first
// each of them holds what its rank contributed; after round 1, piece 0 of rank 1 holds what ranks 0
// and 1 contributed; at the end all pieces hold all four. The page of a run fills cells by it.
//
// Contributions follow the calls of ranks (Trace::memory_notes), not the values: a send hands over
// what its slice holds, a receive replaces, accumulate() adds. What a rank sends or adds without
// having received it, it contributed itself, from the start. Loops over data() are invisible: they
// leave a piece as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "comm/trace.h"
#include "viewer/messages.h"

namespace rankbox {

/// What a piece holds.
struct PieceContents {
  std::map<int, int> from;  // how often each rank contributed; empty: nothing yet
  std::string label;  // "c3": piece 3 of the ranks' buffers; "r3": the buffer of rank 3; or ""
  bool operator<(const PieceContents& other) const {
    return std::tie(from, label) < std::tie(other.from, other.label);
  }
};

/// A buffer that is shown. Buffers that only pass on what they received are not.
struct HeldBuffer {
  int rank = 0;
  std::int64_t bytes = 0;
  std::vector<std::int64_t> begins;  // of its pieces, in bytes
  int first_cell = 0;                // of its pieces, one after the other
  int column = 0;                    // the same for buffers in one role on all ranks
};

/// From the end of this event on the cell holds this.
struct HoldingChange {
  static constexpr std::size_t kStart = SIZE_MAX;  // before the rank's first event
  EventId event;
  int cell = 0;
  std::size_t contents = 0;  // index into Holdings::contents
};

struct Holdings {
  std::vector<HeldBuffer> buffers;      // rank by rank
  std::vector<PieceContents> contents;  // each once; contents[0] is nothing
  std::vector<HoldingChange> changes;   // rank by rank, in program order
  // [rank][event]: what a message, reduction or collective moves: "c3", "c0–c3"; "" if unknown.
  std::vector<std::vector<std::string>> labels;
};

/// Returns what ranks held. It has no buffers if the trace has no notes, lacks events, or is too
/// large for a picture: 64 ranks, 8 buffers of a rank. Calls cut buffers into pieces; of more than
/// 64 of a buffer, neighbours are one. Cost: O(N c) for N notes and c pieces of a buffer.
Holdings holdings_of(const Trace& trace);

}  // namespace rankbox
