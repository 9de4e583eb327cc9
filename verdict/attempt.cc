#include "verdict/attempt.h"

#include <cstddef>
#include <exception>
#include <vector>

#include "comm/run_ranks.h"
#include "verdict/failure_of.h"

namespace rankbox {

Attempt attempt(const Subject& subject, const Case& example, RunOptions how,
                const std::function<void()>& entering) {
  how.world_size = example.world_size;
  how.nodes = example.nodes.value_or(how.nodes);
  how.watch_buffers = true;

  Attempt result;
  const auto wrong = [&](const Difference& difference, int rank) {
    result.failure = failure_of(difference, rank, example, result.report.trace);
    result.expected = difference.expected;
    result.actual = difference.actual;
  };
  // [rank]; what is not here was found out by another process
  std::vector<std::optional<std::optional<Difference>>> differences(
      static_cast<std::size_t>(how.world_size));
  try {
    run_world(
        how,
        [&](Comm& dist) {
          if (entering) entering();
          differences[static_cast<std::size_t>(dist.rank())] = subject.run(dist, example);
        },
        &result.report);
    if (launch().processes > 0) exchange(differences);
  } catch (const std::exception& error) {
    if (const auto* deadlock = dynamic_cast<const DeadlockError*>(&error))
      result.deadlock = *deadlock;
    result.failure = failure_of(error);
    result.actual = name_of(result.failure->kind);
    return result;
  }
  if (subject.sends_messages()) {
    result.failure = failure_of_native(result.report.trace, example, subject);
    if (result.failure) {
      result.expected = "send and recv alone";
      result.actual = "the native " + result.failure->op;
      return result;
    }
  }
  for (std::size_t rank = 0; rank < differences.size(); ++rank) {
    const std::optional<Difference>& difference = differences[rank].value();
    if (!difference) continue;
    wrong(*difference, example.threads ? -1 : static_cast<int>(rank));
    return result;
  }
  if (const auto difference = subject.after(result.report, example))
    wrong(*difference, difference->rank);
  return result;
}

}  // namespace rankbox
