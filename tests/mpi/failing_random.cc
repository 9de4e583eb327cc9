#include "tests/mpi/failing_random.h"

#include <cstdio>

#include <fmt/format.h>

#include "comm/run_ranks.h"
#include "tests/sim/program_walker.h"
#include "tests/sim/random_program.h"
#include "tests/sim/reference_model.h"

namespace rankbox {
namespace {

const char* class_of(testing::OutcomeKind kind) {
  switch (kind) {
    case testing::OutcomeKind::kOk:
      return "none";
    case testing::OutcomeKind::kDeadlock:
      return "TimedOut";
    case testing::OutcomeKind::kMessageMismatch:
      return "MessageMismatch";
    case testing::OutcomeKind::kCollectiveMismatch:
      return "CollectiveMismatch";
    case testing::OutcomeKind::kUnreceived:
      return "UnreceivedMessage";
    case testing::OutcomeKind::kFailed:
      break;
  }
  return "RankFailed";
}

}  // namespace

void run_random(std::uint64_t seed) {
  const Launch here = launch();
  const testing::Program program = testing::broken_program(seed, here.processes);
  if (here.is_first()) {
    const testing::Prediction prediction = testing::predict(program);
    for (const testing::Verdict& verdict : prediction.possible)
      fmt::print("may end as {}\n", class_of(verdict.kind));
    for (const testing::OutcomeKind kind : prediction.disagreements)
      fmt::print("may end as {}\n", class_of(kind));
    fmt::print("{}\n", testing::to_string(program));
    std::fflush(stdout);
  }
  RunOptions options;
  options.world_size = program.world_size;
  options.buffering = program.buffering;
  options.deadline_seconds = 3;
  run_ranks(options, [&](Comm& dist) { testing::walk(program, dist); });
}

}  // namespace rankbox
