// Schedules in GOAL, the language of LogGOPSim: a run written as one, and one read as a trace.
//
//   num_ranks 2
//   rank 0 {
//     l1: calc 500                  nanoseconds
//     l2: send 16b to 1 tag 0       bytes
//     l2 requires l1                l2 starts once l1 is done; irequires: once it has started
//   }
//   rank 1 {
//     l1: recv 16b from 0
//   }
//
// Messages of one tag match in order. A run has a tag for each of its communicators, and making
// them (split) takes no time. What it spends on computing and adding is rounded to nanoseconds.
//
// Hoefler, Siebert, Lumsdaine: Group operation assembly language, ICPP 2009.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "comm/trace.h"

namespace rankbox::cli {

/// Throws InvalidArgument for native collectives other than split, which GOAL does not have, and
/// for a trace that lacks events. The run must have ended. @param gamma seconds per byte added
void write_goal(std::ostream& out, const Trace& trace, double gamma);

/// Returns the trace of ranks that start each operation once what it requires is done. A rank
/// starts its operations in one order: that of an execution in which nothing takes time. So an
/// operation may start later than it could, behind one whose requirement is late. The trace has one
/// node. Throws InvalidArgument, in one line that names file and line, for what is no GOAL, for
/// messages without the other side or of another size, and for ranks that wait for each other.
/// @param name of the file, for errors
Trace read_goal(std::string_view text, const std::string& name);

}  // namespace rankbox::cli
