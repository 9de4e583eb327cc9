// A replay during the run has the clocks of a replay afterwards, to the last bit.
#include "sim/clock/growing_replay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "sim/clock/clock.h"
#include "tests/sim/on_executor.h"
#include "tests/sim/program_walker.h"
#include "tests/sim/random_program.h"
#include "tests/sim/round_cluster.h"

namespace rankbox::testing {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kPrograms = 100;  // 400 take a minute
#else
constexpr std::uint64_t kPrograms = 400;
#endif

void check_equal(const std::vector<Clock>& found, const std::vector<Clock>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    CAPTURE(rank);
    CHECK(found[rank].seconds == expected[rank].seconds);
    CHECK(found[rank].cost == expected[rank].cost);
  }
}

/// Returns how many of a rank's events come next, so that no sendrecv is torn apart.
std::size_t draw_count(std::span<const Event> rest, std::mt19937_64& random) {
  std::size_t count = std::min<std::size_t>(1 + random() % 4, rest.size());
  if (rest[count - 1].paired && count < rest.size()) ++count;
  return count;
}

/// Appends the trace's events in random pieces, in a random order of ranks.
std::vector<Clock> replay_in_pieces(const Trace& trace, const Cluster& cluster,
                                    std::uint64_t seed) {
  std::mt19937_64 random(seed);
  GrowingReplay replay(cluster, trace.nodes);
  for (std::size_t group = 0; group < trace.groups.size(); ++group)
    replay.add_group(static_cast<int>(group), trace.groups[group]);
  std::vector<std::span<const Event>> rest(trace.ranks.begin(), trace.ranks.end());
  std::vector<std::size_t> unfinished;
  for (std::size_t rank = 0; rank < rest.size(); ++rank) unfinished.push_back(rank);
  while (!unfinished.empty()) {
    const std::size_t index = random() % unfinished.size();
    std::span<const Event>& events = rest[unfinished[index]];
    if (events.empty()) {
      unfinished.erase(unfinished.begin() + static_cast<std::ptrdiff_t>(index));
      continue;
    }
    const std::size_t count = draw_count(events, random);
    replay.append(static_cast<int>(unfinished[index]), events.first(count));
    events = events.subspan(count);
  }
  return replay.finish();
}

TEST_CASE("events that arrive in any pieces and any order give the clocks of the whole trace") {
  int overlapping = 0;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    const Program program = matched_program(seed);
    const Cluster cluster = round_cluster();
    const RunOptions options = {.world_size = program.world_size,
                                .nodes = std::min(2, program.world_size),
                                .buffering = program.buffering,
                                .cluster = cluster};
    const RunReport report = run_world(options, [&](Comm& dist) { walk(program, dist); });
    CAPTURE(seed);
    for (const std::uint64_t pieces : {1, 2, 3})
      check_equal(replay_in_pieces(report.trace, cluster, pieces), report.clocks);
    for (const std::vector<Event>& events : report.trace.ranks) {
      const auto overlaps = [](const Event& event) { return event.async || event.buffered; };
      overlapping += std::ranges::any_of(events, overlaps) ? 1 : 0;
    }
  }
  CHECK(overlapping > static_cast<int>(kPrograms / 4));
}

TEST_CASE("a run that keeps few events has the clocks and the first events of one that keeps all") {
  for (const std::int64_t kept : {0, 1, 7, 1000}) {
    for (std::uint64_t seed = 1; seed <= kPrograms / 4; ++seed) {
      const Program program = matched_program(seed);
      RunOptions options = {.world_size = program.world_size,
                            .buffering = program.buffering,
                            .cluster = round_cluster()};
      const auto run = [&] { return run_world(options, [&](Comm& dist) { walk(program, dist); }); };
      const RunReport whole = run();
      options.events_per_rank = kept;
      const RunReport part = run();
      CAPTURE(kept);
      CAPTURE(seed);
      check_equal(part.clocks, whole.clocks);
      CHECK(part.virtual_seconds == whole.virtual_seconds);
      std::int64_t left_out = 0;
      for (std::size_t rank = 0; rank < whole.trace.ranks.size(); ++rank) {
        const std::vector<Event>& all = whole.trace.ranks[rank];
        const std::size_t first = std::min(all.size(), static_cast<std::size_t>(kept));
        REQUIRE(part.trace.ranks[rank].size() == first);
        left_out += static_cast<std::int64_t>(all.size() - first);
        std::int64_t last = 0;
        for (std::size_t i = 0; i < first; ++i) {
          const Event& event = part.trace.ranks[rank][i];
          // A time that was not taken would lie long before the start.
          CHECK(event.begin_ns >= 0);
          CHECK(event.end_ns >= last);
          last = event.begin_ns;
          CHECK(part.trace.ranks[rank][i].kind == all[i].kind);
          CHECK(part.trace.ranks[rank][i].bytes == all[i].bytes);
          CHECK(part.trace.ranks[rank][i].peer == all[i].peer);
        }
      }
      CHECK(part.trace.left_out == left_out);
    }
  }
}

/// A ring that sends more events than a block holds, with uneven work and, later, an overlap.
void long_ring(Comm& dist, int rounds, bool overlaps) {
  Tensor out = zeros(8);
  Tensor in = zeros(8);
  const int next = (dist.rank() + 1) % dist.world_size();
  const int prev = (dist.rank() + dist.world_size() - 1) % dist.world_size();
  for (int round = 0; round < rounds; ++round) {
    if (overlaps && round == rounds / 2) {
      auto sent = dist.isend(out, next);
      dist.recv(in, prev);
      dist.compute(1e-3 * dist.rank());
      dist.wait(sent);
    }
    dist.sendrecv(out, next, in, prev);
    accumulate(out, in, ReduceOp::MAX);
    if (round % 5 == dist.rank() % 5) dist.compute(1024);
    if (round % 50 == 7) dist.barrier();
  }
}

TEST_CASE("long runs hand their events over while they run") {
  for (const bool overlaps : {false, true}) {
    RunOptions options = world_of(/*world_size=*/7, /*nodes=*/2);
    const auto run = [&] {
      return run_world(options, [&](Comm& dist) { long_ring(dist, 500, overlaps); });
    };
    const RunReport whole = run();
    options.events_per_rank = 10;
    options.snapshot_elements = 2;
    const RunReport part = run();
    CAPTURE(overlaps);
    check_equal(part.clocks, whole.clocks);
    for (const std::vector<Snapshot>& snapshots : part.trace.snapshots) {
      CHECK(!snapshots.empty());
      for (const Snapshot& each : snapshots) CHECK(each.event < 10);
    }
  }
}

TEST_CASE("clocks of a run that fails are those up to the failure") {
  RunOptions options = world_of(/*world_size=*/2);
  options.events_per_rank = 0;
  RunReport report;
  const auto body = [](Comm& dist) {
    for (int i = 0; i < 100; ++i) {
      pass(dist, 0, 1, 4);
      pass(dist, 1, 0, 4);
    }
    Tensor last = zeros(1);
    dist.recv(last, 1 - dist.rank());
  };
  CHECK_THROWS_AS(run_world(options, body, &report), DeadlockError);
  CHECK(report.clocks.at(0).cost.steps == 200);
  CHECK(report.clocks.at(1).cost.steps == 200);
  CHECK(report.trace.left_out == 402);
}

}  // namespace
}  // namespace rankbox::testing
