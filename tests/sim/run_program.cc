#include "tests/sim/run_program.h"

#include <exception>
#include <optional>

#include "comm/errors.h"
#include "tests/sim/on_executor.h"
#include "tests/sim/program_walker.h"
#include "tests/support/thrown.h"

namespace rankbox::testing {
namespace {

Verdict verdict_of(const std::exception_ptr& thrown) {
  if (thrown == nullptr) return {};
  if (const auto error = error_as<DeadlockError>(thrown)) {
    Verdict verdict{OutcomeKind::kDeadlock, -1, {}};
    for (const Wait& wait : error->waits())
      verdict.blocked.push_back({wait.rank, wait.op, wait.peers});
    return verdict;
  }
  if (const auto error = error_as<MessageMismatch>(thrown))
    return {OutcomeKind::kMessageMismatch, error->rank(), {}};
  if (const auto error = error_as<CollectiveMismatch>(thrown))
    return {OutcomeKind::kCollectiveMismatch, error->rank(), {}};
  if (const auto error = error_as<UnreceivedMessage>(thrown))
    return {OutcomeKind::kUnreceived, error->rank(), {}};
  if (const auto error = error_as<RankFailed>(thrown))
    return {OutcomeKind::kFailed, error->rank(), {}};
  return {OutcomeKind::kFailed, -2, {}};  // which the model never returns
}

}  // namespace

ProgramRun run_program(const Program& program, RunOptions options,
                       const std::function<std::vector<std::uint64_t>(Comm&)>& body) {
  ProgramRun run;
  run.received.resize(program.ranks.size());
  options.world_size = program.world_size;
  options.buffering = program.buffering;
  options.seed = program.schedule;
  const auto rank_body = [&](Comm& dist) {
    run.received[static_cast<std::size_t>(dist.rank())] = body ? body(dist) : walk(program, dist);
  };
  try {
    run_world(options, rank_body, &run.report);
  } catch (...) {
    run.verdict = verdict_of(std::current_exception());
    run.what = what_of(std::current_exception());
  }
  return run;
}

}  // namespace rankbox::testing
