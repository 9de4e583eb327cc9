// The world sizes for the tests of all backends, and checks that depend on the backend.
#pragma once

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/differences.h"
#include "tests/backends/observe.h"
#include "tests/support/executors.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {

/// Returns 1 to 8 if ranks are threads; over NCCL, where a world starts slowly, only some of them.
/// If ranks are processes, returns the launched number. Skips the test case if that is fewer than
/// `at_least`.
inline std::vector<int> world_sizes(int at_least = 1) {
  const int launched = launch().processes;
  std::vector<int> sizes = {launched};
  if (launched == 0) {
    sizes = {1, 2, 3, 4, 5, 6, 7, 8};
    std::erase_if(sizes, [](int p) { return (p == 4 || p == 6 || p == 7) && is_over_nccl(p); });
  }
  std::erase_if(sizes, [&](int size) { return size < at_least; });
  if (sizes.empty()) pass_over("fewer than " + std::to_string(at_least) + " processes");
  return sizes;
}

/// Returns the sizes whose sends are buffered as RunOptions::buffering says.
inline std::vector<int> worlds_that_buffer(int at_least = 1) {
  std::vector<int> sizes = world_sizes(at_least);
  if (std::erase_if(sizes, is_over_nccl) > 0 && sizes.empty())
    pass_over("what NCCL buffers cannot be set");
  return sizes;
}

/// Returns the sizes whose ranks get an error for calls that do not match, before data moves. Over
/// NCCL such a run ends at its deadline: tests/gpu has those.
inline std::vector<int> worlds_that_compare(int at_least = 1) {
  std::vector<int> sizes = world_sizes(at_least);
  if (std::erase_if(sizes, is_over_nccl) > 0 && sizes.empty())
    pass_over("NCCL does not compare calls");
  return sizes;
}

/// Returns options for a world whose ranks time out early if something is wrong.
inline RunOptions world(int world_size) {
  return {.world_size = world_size, .executor = current_executor, .deadline_seconds = 60};
}

/// The same for ranks whose waits must time out.
inline RunOptions stuck_world(int world_size) {
  return {.world_size = world_size, .executor = current_executor, .deadline_seconds = 0.3};
}

/// Checks that the run ended because no rank could continue.
inline void check_stuck(const Observation& seen) {
  INFO(what_of(seen.thrown));
  CHECK((ended_as<DeadlockError>(seen) || (kMayTimeOut && ended_as<TimedOut>(seen))));
}

/// Checks it for one rank's end. Where ranks time out, the first one stops the others.
inline void check_stuck(const Observation& seen, int rank) {
  CAPTURE(rank);
  INFO(what_of(seen.ranks.at(static_cast<std::size_t>(rank))));
  CHECK((ended_as<DeadlockError>(seen, rank) ||
         (kMayTimeOut && (ended_as<TimedOut>(seen, rank) || ended_as<Aborted>(seen, rank)))));
}

}  // namespace rankbox::testing
