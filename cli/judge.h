// The hidden subcommand `judge`: the half of a grading that runs in a process of its own.
//
//   rankbox judge NAME LIBRARY [--replay CASE] [--command TEXT] [--picture OPTIONS]
//
// Opens the library, judges its rankbox_exercise() (with --picture: runs it once and draws the run,
// see picture.h), and reports on kReportFd, one line each:
//
//   case ./rankbox check broadcast_ring --replay world_size=3,…      before each case
//   thrown 11a9 1203                                                 where an exception came from
//   verdict {…}                                                      at the end
//
// and the lines of stop_report.h if it does not get there.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_judge(CLI::App& app);

}  // namespace rankbox::cli
