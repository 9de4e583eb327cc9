#include "verdict/run_case.h"

#include <cstddef>
#include <exception>
#include <vector>

#include "comm/run_ranks.h"
#include "verdict/checks.h"
#include "verdict/failure_of.h"

namespace rankbox {

CaseRun run_case(const Subject& subject, const Case& example, RunOptions how,
                 const std::function<void()>& entering) {
  how.world_size = example.world_size;
  how.nodes = example.nodes.value_or(how.nodes);
  how.watch_buffers = true;

  CaseRun run;
  // [rank]; unset: compared by another process
  std::vector<std::optional<std::optional<Difference>>> differences(
      static_cast<std::size_t>(how.world_size));
  try {
    run_world(
        how,
        [&](Comm& dist) {
          if (entering) entering();
          differences[static_cast<std::size_t>(dist.rank())] = subject.run(dist, example);
        },
        &run.report);
    if (launch().processes > 0) exchange(differences);
  } catch (const std::exception& error) {
    if (const auto* deadlock = dynamic_cast<const DeadlockError*>(&error)) run.deadlock = *deadlock;
    run.failure = failure_of(error);
    return run;
  }
  if (subject.sends_messages) run.failure = failure_of_native(run.report.trace, example, subject);
  for (std::size_t rank = 0; rank < differences.size() && !run.failure; ++rank) {
    const std::optional<Difference>& difference = differences[rank].value();
    if (!difference) continue;
    run.failure = failure_of(*difference, example.threads ? -1 : static_cast<int>(rank), example,
                             run.report.trace);
  }
  if (!run.failure)
    run.failure = first_failure(subject.checks, FailureKind::kValues, run.report, example);
  return run;
}

}  // namespace rankbox
