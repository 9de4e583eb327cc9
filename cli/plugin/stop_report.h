// Reports the position in a learner's function when its process is stopped.
//
// A signal, a call of exit(), or the parent's request (SIGUSR1) writes one line to kReportFd:
//
//   stopped signal 11 rank 2 at 11a9 1203
//   stopped exit 0 rank 2 at 11a9 1203
//   stopped asked 10 rank 2 at 11a9 1203
//
// The innermost address in the learner's library comes first. Addresses are offsets into the
// library; source_lines.h turns them into lines. Also records where each rank last threw an
// exception.
#pragma once

#include <string>

namespace rankbox::cli {

/// Call once, early. Until set_library, there are no addresses.
void report_stops();

/// Sets the learner's library: the one that holds this address.
void set_library(const void* address);

/// Returns where this rank last threw: "11a9 1203"; empty if it threw nothing out of the library.
std::string last_throw_of(int rank);

/// Returns the offset of the call before this return address, as callers are reported: "11a9".
/// Empty if the address is in no library.
std::string offset_of(const void* code);

/// Call before the project itself exits: later calls of exit() are not reported.
void done_reporting();

}  // namespace rankbox::cli
