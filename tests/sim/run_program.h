// Runs a random program, on the executor that main() has selected, and classifies its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/comm.h"
#include "comm/run_ranks.h"
#include "tests/sim/random_program.h"
#include "tests/sim/reference_model.h"

namespace rankbox::testing {

/// How a program's run ended.
struct ProgramRun {
  Verdict verdict;
  std::string what;                                  // of the error; empty: none
  std::vector<std::vector<std::uint64_t>> received;  // [rank] what walk() returned
  RunReport report;
};

/// Runs the program with its buffering and schedule, and the other options as given.
/// @param body what each rank does, and returns; empty: walk(program, dist)
ProgramRun run_program(const Program& program, RunOptions options = {},
                       const std::function<std::vector<std::uint64_t>(Comm&)>& body = {});

}  // namespace rankbox::testing
