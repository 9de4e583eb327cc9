// The hidden subcommand `judge`: the part of grading that runs in a separate process.
//
//   rankbox judge NAME LIBRARY [--salt N] [--replay CASE] [--command TEXT]
//                [--picture OPTIONS]
//
// Opens the library and judges its rankbox_exercise(). With --picture, runs it once and draws the
// run (picture.h). Reports on kReportFd in the format of verdict_report.h.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_judge(CLI::App& app);

}  // namespace rankbox::cli
