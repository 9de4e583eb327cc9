// The schedule of a pipeline for the terminal: a row for each rank, a column for each slot of time.
//
//   rank 0  F0 F1 ·  ·  B0─── ·  B1───
//   rank 1  ·  F0 F1 B0─── B1─── ·  ·
//
// What ranks compute has labels (comm/label.h), and those that begin with B, the backward passes, have
// another colour. A slot is as long as the shortest of them; what takes several of them is drawn that long.
// Dots are idle.
#pragma once

#include <string>

#include "comm/trace.h"
#include "replay/clock.h"

namespace rankbox {

struct ScheduleGridOptions {
  int columns = 80;     // of every line; what lies beyond is left out, and said so
  int max_ranks = 64;   // the rest is counted, not drawn
  bool ascii = false;   // for terminals without UTF-8
  bool colour = false;  // ANSI: forward cyan, backward yellow
};

/// Whether there is anything to draw: something computed that has a label.
bool has_schedule(const Trace& trace);

/// The grid, lines with their line ends.
/// REQUIRES: `replay` is a replay of `trace`, with messages that take no time, or little.
std::string draw_schedule(const Trace& trace, const Replay& replay,
                          const ScheduleGridOptions& options = {});

/// Of all ranks' time, until the last one has ended, the share that is not spent on what has a label.
double unlabelled_share(const Trace& trace, const Replay& replay);

}  // namespace rankbox
