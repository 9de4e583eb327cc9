// The run of a report: its options, sections and outputs.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

struct ReportOptions {
  std::string only;          // sections, by names or their beginnings, with commas; empty: all
  double seconds = 600;      // of all sections
  std::string json;          // a file; "-": standard output, without the text
  bool is_markdown = false;  // prints the table instead of the text
};

/// Adds the options that `./rankbox gpu` shares with rankbox-gpu, which runs without Bazel.
void add_report_options(CLI::App& app, ReportOptions& options);

/// Throws InvalidArgument, in one line, for invalid options: before minutes are spent on building.
void check_options(const ReportOptions& options);

/// Measures and prints. Blocks for at most options.seconds, after at most 30 s to find the GPUs,
/// and a few seconds more for programs to end. Returns 0 if every measured target is met and no
/// program failed, else 1. Throws as check_options, Error if there is no GPU, and Interrupted after
/// it has printed what it has.
/// @param folders of the programs, the first one that has it
int run_report(const ReportOptions& options, const std::vector<std::string>& folders);

}  // namespace rankbox::cli
