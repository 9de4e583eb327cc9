// Reports of the process that runs a learner's library to its parent, one line each.
//
//   loading /tmp/…/exercise.so                                      before the library is loaded
//   case ./rankbox check broadcast_ring --replay world_size=3,…      before each case
//   result {…}                                                       figures of a run
//   mistake world size 70000 …                                       the user's, not the program's
//   at 11a9 1203                                                     the code of a failure
//   failing {…}                                                      a verdict that may gain words
//   verdict {…}                                                      at the end
//
// and the lines of stop_report.h if it ends earlier. cli/plugin/contained.h reads them.
#pragma once

#include <string>

#include "cli/plugin/plugin.h"
#include "judge/verdict.h"

namespace rankbox::cli {

/// From now on stops are reported on kReportFd (judge/stop_report.h). Call once, early.
/// @param before called before each report, also in signal handlers; may be null
void report_stops_to_parent(void (*before)() = nullptr);

/// Writes one line to kReportFd.
void report_line(const std::string& line);

/// Loads the learner's function, after reporting that: from now on stops are reported as those of
/// its library. If there is none, reports that as the verdict on `name`, and ends the process.
/// @param signature see load_function()
LearnersFunction load_learners_function(const std::string& name, const std::string& library,
                                        const std::string& signature);

/// Reports a verdict that fails, in case the process ends before the last one.
void report_failing(const Verdict& verdict);

/// Reports the verdict, and the code of its failure if its line is unknown; then ends the process.
/// Threads of the learner's code may still run, so no destructor runs.
[[noreturn]] void report_and_exit(const Verdict& verdict);

}  // namespace rankbox::cli
