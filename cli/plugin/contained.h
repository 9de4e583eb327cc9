// Runs a learner's library in a separate process and returns a verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/support/child.h"
#include "judge/verdict.h"

namespace rankbox::cli {

struct ContainedOptions {
  std::vector<std::string> words;  // arguments of this program: a hidden subcommand and its options
  std::string name;                // of the verdict, if the process returns none
  std::string function;            // of the library
  std::string library;
  std::string source;         // an absolute path
  std::string temporary;      // a folder for its files; the caller removes it
  bool is_trusted = false;    // no learner's code runs in the process, so it may report an error
  bool in_container = false;  // where there are containers (cli/support/container.h)
  std::vector<std::string> readable = {};  // in a container: what else it sees, absolute paths
  std::vector<std::string> writable = {};  // likewise: folders that it may write to
  double seconds = 10;                     // of wall-clock time
  int memory_mb = 1024;                    // of private memory
  std::int64_t file_bytes = 1 << 24;       // largest file it may write
  int tree_threads = 0;                    // that it and its processes may have; 0: no limit
  std::function<void(std::string_view)> on_output = {};  // as in ChildOptions
};

struct Contained {
  Verdict verdict;
  bool reported = false;    // by the process; else the verdict says how it ended
  std::string output = {};  // the output: the first 64 KiB, and a line if there is more
  std::string result = {};  // the rest of its report (verdict_report.h); empty: it ended earlier
};

/// Returns the failure of a process that ran a learner's library and ended without a report: the
/// kind, the rank, and the place as far as known.
/// @param options reads function, library, source and seconds
Failure failure_of_end(const ChildResult& child, const ContainedOptions& options);

/// Blocks until done. Crashes, calls of exit() and endless loops become verdicts with their place.
/// Leaves no process behind. Throws InvalidArgument for a user error that a process outside of
/// containers reports, Error if one inside does not start; Interrupted while an InterruptGuard
/// lives.
Contained run_contained(const ContainedOptions& options);

}  // namespace rankbox::cli
