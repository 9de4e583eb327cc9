// The schedule of a pipeline for the terminal: one row per rank, one column per time slot.
//
//   rank 0  F0 F1 ·  ·  B0─── ·  B1───
//   rank 1  ·  F0 F1 B0─── B1─── ·  ·
//
// Computations have labels (comm/label.h); those that begin with B, the backward passes, have
// another colour. A slot is as long as the shortest computation; longer ones take several slots.
// Dots are idle.
#pragma once

#include <string>

#include "comm/trace.h"
#include "sim/clock/clock.h"

namespace rankbox {

struct ScheduleGridOptions {
  int columns = 80;     // of every line; the rest is omitted, with a note
  int max_ranks = 64;   // the rest is counted, not drawn
  bool ascii = false;   // for terminals without UTF-8
  bool colour = false;  // ANSI: forward cyan, backward yellow
};

/// Returns whether computations have the labels of a pipeline: F, B or W and the number of a
/// micro-batch, and maybe the letter of a chunk.
bool has_schedule(const Trace& trace);

/// Returns whether there is a computation with a label.
bool has_labels(const Trace& trace);

/// Returns the grid, as lines with their line ends. REQUIRES: `replay` is a replay of `trace`, with
/// messages that take little or no time.
std::string draw_schedule(const Trace& trace, const Replay& replay,
                          const ScheduleGridOptions& options = {});

/// Returns the share of all ranks' time, until the last one ends, that is not spent on labelled
/// computations.
double unlabelled_share(const Trace& trace, const Replay& replay);

}  // namespace rankbox
