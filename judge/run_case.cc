#include "judge/run_case.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/run_ranks.h"
#include "judge/checks.h"
#include "judge/failure_of.h"
#include "judge/judge.h"
#include "judge/noted_result.h"

namespace rankbox {

namespace {

/// Returns the failure if ranks noted different results.
std::optional<Failure> compare_noted(const std::vector<std::uint64_t>& noted, const Case& example,
                                     const Trace& trace) {
  for (std::size_t rank = 1; rank < noted.size(); ++rank) {
    if (noted[rank] == noted.front()) continue;
    const Difference difference = {
        "the result's bits",
        -1,
        "the same on every rank",
        fmt::format("others on rank {} than on rank 0", rank),
        {"bits-differ", "compute each element on one rank, then copy it"}};
    return failure_of(difference, static_cast<int>(rank), example, trace);
  }
  return std::nullopt;
}

/// Returns the failure if messages are not in the trace, which decides on cost.
std::optional<Failure> compare_count(const RunReport& report, const Case& example) {
  if (report.trace.left_out > 0) return std::nullopt;  // it holds only each rank's first events
  std::int64_t recorded = 0;
  for (const std::vector<Event>& events : report.trace.ranks)
    recorded += std::ranges::count(events, EventKind::kSend, &Event::kind);
  if (recorded == report.messages) return std::nullopt;
  Difference difference = {"messages in the trace",
                           -1,
                           fmt::format("{}", report.messages),
                           fmt::format("{}", recorded),
                           {"unrecorded-messages", "only the judge may send what is not recorded"}};
  difference.kind = FailureKind::kMessages;
  return failure_of(difference, -1, example, report.trace);
}

class InRank {
 public:
  explicit InRank(const RankHooks& hooks) : hooks_(hooks) {
    if (hooks_.entering) hooks_.entering();
  }
  InRank(const InRank&) = delete;
  InRank& operator=(const InRank&) = delete;
  ~InRank() {
    if (hooks_.leaving) hooks_.leaving();
  }

 private:
  const RankHooks& hooks_;
};

}  // namespace

CaseRun run_case(const Subject& subject, const Case& example, RunOptions how,
                 const RankHooks& hooks) {
  return run_cases(subject, {example}, std::move(how), hooks);
}

CaseRun run_cases(const Subject& subject, const std::vector<Case>& examples, RunOptions how,
                  const RankHooks& hooks) {
  const Case& example = examples.front();
  how.world_size = example.world_size;
  how.nodes = example.nodes.value_or(how.nodes);
  how.watch_buffers = true;

  CaseRun run;
  // [rank]; unset: compared by another process
  std::vector<std::optional<std::optional<Difference>>> differences(
      static_cast<std::size_t>(how.world_size));
  std::vector<std::uint64_t> noted(differences.size());  // [rank]
  try {
    run_world(
        how,
        [&](Comm& dist) {
          const InRank in_rank(hooks);
          const auto rank = static_cast<std::size_t>(dist.rank());
          take_noted_result();
          // A rank with a wrong value goes on: the others may wait for it.
          std::optional<Difference> first;
          for (const Case& each : examples) {
            auto difference = subject.run(dist, each);
            // At once: the note is the thread's, which may be another rank's in the next call.
            noted[rank] = 31 * noted[rank] + take_noted_result();
            if (!first) first = std::move(difference);
          }
          differences[rank] = std::move(first);
        },
        &run.report);
    if (launch().processes > 0) exchange(differences);
  } catch (const std::exception& error) {
    if (const auto* deadlock = dynamic_cast<const DeadlockError*>(&error)) run.deadlock = *deadlock;
    run.failure = failure_of(error);
    return run;
  }
  if (!judges_only_values()) run.failure = compare_count(run.report, example);
  if (subject.sends_messages && !run.failure)
    run.failure = failure_of_native(run.report.trace, example, subject);
  if (subject.sends_messages && !run.failure && examples.size() == 1)
    run.failure = failure_of_split(run.report.trace, example, subject);
  // A barrier moves no data, so a wrong value is another mistake, and the more serious one.
  std::optional<Failure> barrier;
  if (run.failure && run.failure->kind == FailureKind::kSafety) barrier.swap(run.failure);
  for (std::size_t rank = 0; rank < differences.size() && !run.failure; ++rank) {
    const std::optional<Difference>& difference = differences[rank].value();
    if (!difference) continue;
    run.failure = failure_of(*difference, example.threads ? -1 : static_cast<int>(rank), example,
                             run.report.trace);
  }
  if (!run.failure && launch().processes == 0)
    run.failure = compare_noted(noted, example, run.report.trace);
  if (!run.failure && (examples.size() == 1 || subject.is_barrier))
    run.failure = first_failure(subject.checks, FailureKind::kValues, run.report, example);
  if (barrier && run.failure) run.failure->message += "; besides, " + barrier->message;
  if (!run.failure) run.failure = std::move(barrier);
  return run;
}

}  // namespace rankbox
