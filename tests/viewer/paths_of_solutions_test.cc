// The critical path of every exercise's solution.
#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "judge/catalog.h"
#include "judge/run_case.h"
#include "sim/clock/clock.h"
#include "sim/clusters/clusters.h"
#include "solutions/table.h"
#include "viewer/critical_path.h"

namespace rankbox {
namespace {

/// Returns "" if each event of the path begins when the one before it ended, from 0 to the end.
std::string gap_in(const Trace& trace, const Replay& replay) {
  const auto span = [&](EventId id) {
    return replay.spans[static_cast<std::size_t>(id.rank)][id.event];
  };
  double now = 0;
  for (const EventId id : critical_path(trace, replay)) {
    if (span(id).begin != now) {
      return "rank " + std::to_string(id.rank) + ", event " + std::to_string(id.event) +
             " begins at " + std::to_string(span(id).begin * 1e6) + " µs, not at " +
             std::to_string(now * 1e6);
    }
    now = span(id).end;
  }
  const double end = *std::ranges::max_element(replay.clocks);
  if (now != end) return "ends at " + std::to_string(now * 1e6) + " µs";
  return "";
}

void check_path(const Exercise& exercise, Case example) {
  if (example.nodes) example.nodes = example.world_size % 2 == 0 ? 2 : 1;
  // Of an interleaved schedule, a multiple of the ranks.
  if (example.chunks) example.segments = example.world_size * *example.segments;
  const CaseRun run = run_case(subject_of(exercise, solution_of(exercise.name)), example);
  for (const char* const name : {"laptop", "h100-efa"}) {
    INFO(exercise.name, " ", to_string(example), " on ", name);
    REQUIRE(!run.failure);
    CHECK(gap_in(run.report.trace, replay_trace(run.report.trace, cluster_named(name))) == "");
  }
}

TEST_CASE("the critical path has no gap, from the start of a run to its end") {
  for (const Exercise& exercise : exercises()) {
    if (!sends_messages(exercise)) continue;
    Case example = first_case_of(exercise);
    const bool is_collective = exercise.chapter <= 5;
    if (example.count && is_collective) example.count = 4096;
    for (const int p : {2, 3, 5, 8}) {
      example.world_size = p;
      for (const int segments : {1, 2, 4, 8, 16}) {
        if (segments > 1 && (!example.segments || (segments > 4 && !is_collective))) break;
        if (example.segments) example.segments = segments;
        check_path(exercise, example);
      }
    }
  }
}

}  // namespace
}  // namespace rankbox
