// Random programs, matched and broken: each must end as the reference model says, with the values it
// says, and none may hang. (tests/sim/stress_test.cc runs thousands of them in the sandbox, where the
// endings are exact to the rank and the wait.)
//
//   RANKBOX_STRESS_SEED=123  runs the programs of that seed alone, many times
//   RANKBOX_STRESS_RUNS=500  runs so many programs of each sort
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/worlds.h"
#include "tests/sim/program_walker.h"
#include "tests/sim/random_program.h"
#include "tests/sim/reference_model.h"

namespace rankbox::testing {
namespace {

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

template <class Body>
void for_each_seed(std::uint64_t otherwise, Body body) {
  const std::uint64_t runs = environment("RANKBOX_STRESS_RUNS", otherwise);
  const std::uint64_t seed = environment("RANKBOX_STRESS_SEED", 0);
  for (std::uint64_t i = 1; i <= runs; ++i) body(seed == 0 ? i : seed);
}

int most_ranks() { return launch().processes == 0 ? 8 : launch().processes; }

RunOptions options_of(const Program& program, double deadline_seconds) {
  RunOptions options;
  options.world_size = program.world_size;
  options.buffering = program.buffering;
  options.seed = program.schedule;
  options.deadline_seconds = deadline_seconds;
  return options;
}

/// How the run ended, as a kind alone: who tells of it differs.
OutcomeKind kind_of(const Observation& seen) {
  if (seen.thrown == nullptr) return OutcomeKind::kOk;
  if (ended_as<DeadlockError>(seen) || (kMayTimeOut && ended_as<TimedOut>(seen)))
    return OutcomeKind::kDeadlock;
  if (ended_as<MessageMismatch>(seen)) return OutcomeKind::kMessageMismatch;
  if (ended_as<CollectiveMismatch>(seen)) return OutcomeKind::kCollectiveMismatch;
  if (ended_as<UnreceivedMessage>(seen)) return OutcomeKind::kUnreceived;
  return OutcomeKind::kFailed;
}

/// Whether the model allows for such an end. Where deadlocks are not proved, ranks look at all that
/// they have begun, and may notice what nobody came to wait for.
bool is_possible(const Prediction& prediction, OutcomeKind kind) {
  return (kMayTimeOut && prediction.disagreements.contains(kind)) ||
         std::any_of(prediction.possible.begin(), prediction.possible.end(),
                     [&](const Verdict& verdict) { return verdict.kind == kind; });
}

std::string told(const Program& program, const Prediction& prediction, const Observation& seen) {
  std::string text = "rerun with RANKBOX_STRESS_SEED=" + std::to_string(program.seed) + "\n" +
                     to_string(program) + "\npredicted:";
  for (const Verdict& verdict : prediction.possible) text += "\n  or " + to_string(verdict);
  return text + "\ngot: " + what_of(seen.thrown);
}

TEST_CASE("matched programs end well, with the right values") {
  for_each_seed(150, [](std::uint64_t seed) {
    const Program program = matched_program(seed, most_ranks());
    const Prediction prediction = predict(program);
    std::vector<std::vector<std::uint64_t>> received;
    const Observation seen = observe(options_of(program, 20), [&](Comm& dist, std::string& note) {
      note = to_bytes(walk(program, dist));
    });
    INFO(told(program, prediction, seen));
    CHECK(seen.thrown == nullptr);
    if (seen.thrown != nullptr) return;
    for (const std::string& note : seen.notes)
      received.push_back(from_bytes<std::vector<std::uint64_t>>(note));
    CHECK(received == prediction.received);
  });
}

TEST_CASE("broken programs end as the reference model says, one after the other") {
  for_each_seed(60, [](std::uint64_t seed) {
    const Program program = broken_program(seed, most_ranks());
    const Prediction prediction = predict(program);
    const Observation seen =
        observe(options_of(program, 0.7), [&](Comm& dist) { walk(program, dist); });
    INFO(told(program, prediction, seen));
    CHECK(is_possible(prediction, kind_of(seen)));
  });
}

}  // namespace
}  // namespace rankbox::testing
