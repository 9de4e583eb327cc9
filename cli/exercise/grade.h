// Grades a source file: compiles it, then runs and judges it in a separate process.
#pragma once

#include <cstdint>
#include <string>

#include "judge/catalog.h"
#include "judge/verdict.h"

namespace rankbox::cli {

struct GradeOptions {
  std::string file;        // what to grade: a path
  std::string replay;      // only this case; empty: all
  std::uint64_t salt = 0;  // of inputs and cases (judge/salt.h); 0: those of `check`
  std::string command;     // the start of a replay line: "./rankbox check broadcast_ring"
  double seconds = 10;     // time limit, without compilation
  int memory_mb = 1024;    // likewise
  std::string picture;     // draw one run instead of judging all: PictureOptions as JSON
  /// A folder for the page (kHtmlFile) of a run after the verdict, see picture_after(); empty:
  /// none.
  std::string page_folder;
  /// What passes is judged again by a referee, with a process for each rank (judge/seal/).
  bool sealed = false;
  std::string order = "any";  // of started messages, in the form of parse_order()
};

struct Grade {
  Verdict verdict;
  std::string compiler_output;
  std::string program_output;  // what the learner's code printed, the first 64 KiB
};

/// Blocks until done. Returns a verdict for any file, and leaves no process and no file behind. Its
/// status is kError where this machine prevents a verdict: no compiler, a full or read-only disk.
/// Throws InvalidArgument if the file cannot be read or the replay is no case of the exercise;
/// Error for a sealed verdict where there are no containers; Interrupted while an InterruptGuard
/// lives.
Grade grade(const Exercise& exercise, const GradeOptions& options);

}  // namespace rankbox::cli
