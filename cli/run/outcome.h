// The outcome of a run on any backend.
#pragma once

#include <string>

#include "cli/run/program.h"
#include "judge/verdict.h"

namespace rankbox::cli {

struct Outcome {
  Verdict verdict;
  std::string figures;   // of figures_of; empty: the run ended earlier
  std::string output;    // the program's output, as Contained has it
  std::string compiler;  // the compiler's output
};

/// Compiles the program and runs it in a separate process, with limits on time and memory. Blocks
/// until done, and shows its progress on a terminal. Leaves files in options.picture.folder. Throws
/// InvalidArgument for a world that this machine cannot start; Interrupted while an InterruptGuard
/// lives.
/// @param source an absolute path
/// @param shows_output prints what the program prints, as it arrives
Outcome run_in_sandbox(const std::string& source, const ProgramOptions& options, bool shows_output);

/// Prices and draws a schedule (cli/picture/goal.h) on options.cluster. Leaves files in
/// options.picture.folder. Throws InvalidArgument for what is no schedule.
Outcome run_goal(const std::string& source, ProgramOptions& options);

/// Compiles the program for a backend and runs it there, with this process's output. Prints errors
/// itself; returns the exit code.
/// @param backend "mpi" or "nccl"
int run_on_backend(const std::string& source, const std::string& backend,
                   const ProgramOptions& options);

/// As run_on_backend, but captures the output.
Outcome run_on_backend_quietly(const std::string& source, const std::string& backend,
                               const ProgramOptions& options);

}  // namespace rankbox::cli
