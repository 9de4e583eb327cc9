// What each rank holds as an animated SVG, for pages that show pictures but run no scripts.
#pragma once

#include <ostream>
#include <string>

#include "comm/trace.h"
#include "sim/clock/clock.h"

namespace rankbox {

/// Writes the picture: a row of pieces for each rank, which fill while messages travel. Events that
/// end at one virtual time are one step, of a second. Readers who prefer reduced motion see the
/// end. Colours follow the reader's light or dark theme. Cost: O(E log E) for E events.
///
/// Throws InvalidArgument if there is nothing to draw (see holdings_of), or more than a picture of
/// some hundred KiB: 16 ranks, 400 steps, 5000 messages and changes.
/// @param failure what ended the run; empty on success
void write_held_svg(std::ostream& out, const std::string& title, const std::string& failure,
                    const Trace& trace, const Replay& replay);

}  // namespace rankbox
