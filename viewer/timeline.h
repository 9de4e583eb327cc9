// A space-time picture of a run for the terminal.
//
// It has a pair of lanes per rank, with virtual time from left to right.
//
//   rank 0  out  [→1━━━]     [→1━━━]
//           in   [←3━━━][+▒▒][←3━━━][+▒▒]
//   rank 1  out  [→2━━━]     [→2━━━]
//           in   [←0━━━][+▒▒][←0━━━][+▒▒]
//           0    10 µs     20 µs
//
// A rank's sends are above, its receives and computations below: a link carries both directions at
// once. A native collective is below. One that was started with …_async is above, so that
// concurrent computation is visible. Blanks are time spent waiting.
#pragma once

#include <string>

#include "comm/trace.h"
#include "sim/clock/clock.h"

namespace rankbox {

struct TimelineOptions {
  int columns = 80;     // of every line, at least 40
  int max_ranks = 16;   // the rest is counted, not drawn
  bool ascii = false;   // for terminals without UTF-8
  bool colour = false;  // ANSI: sends blue, receives green, work yellow, native collectives magenta
};

/// Returns the picture, as lines with their line ends. Spans that never ended are drawn open to the
/// right edge.
///
/// REQUIRES: `replay` is a replay of `trace`.
std::string draw_timeline(const Trace& trace, const Replay& replay,
                          const TimelineOptions& options = {});

}  // namespace rankbox
