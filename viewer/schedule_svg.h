// A pipeline's schedule as an animated SVG: which rank computes which micro-batch when.
#pragma once

#include <ostream>
#include <string>

#include "comm/trace.h"
#include "sim/clock/clock.h"

namespace rankbox {

/// Writes a lane for each rank over virtual time: labelled computations ("F3", "B3") as bars, which
/// appear as the time passes, and messages as lines between them. Readers who prefer reduced motion
/// see the whole run.
///
/// Throws InvalidArgument for more than 16 ranks, 600 computations or 2000 messages.
/// @param failure what ended the run; empty on success
void write_schedule_svg(std::ostream& out, const std::string& title, const std::string& failure,
                        const Trace& trace, const Replay& replay);

}  // namespace rankbox
