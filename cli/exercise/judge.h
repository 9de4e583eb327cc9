// The hidden subcommand `judge`: the part of grading that runs in a separate process.
//
//   rankbox judge NAME LIBRARY [--replay CASE] [--command TEXT] [--picture OPTIONS]
//
// Opens the library, judges its rankbox_exercise() (with --picture: runs it once and draws the run,
// see picture.h), and reports on kReportFd as verdict_report.h says.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_judge(CLI::App& app);

}  // namespace rankbox::cli
