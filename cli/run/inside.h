// The hidden subcommand `run-library`: the part of `run` in a separate process.
//
//   rankbox run-library LIBRARY --options JSON
//
// Opens the library, runs its rank_main on every rank, draws the run, and reports on kReportFd in
// the format of cli/plugin/verdict_report.h.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_run_library(CLI::App& app);

}  // namespace rankbox::cli
