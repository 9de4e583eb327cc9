// Which worlds the tests of all backends run, and the one thing in which backends may differ.
#pragma once

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/observe.h"

namespace rankbox::testing {

/// 1 to 8 where ranks are threads; where they are processes, as many as were launched. None if that
/// is fewer than `at_least`.
inline std::vector<int> world_sizes(int at_least = 1) {
  const int launched = launch().processes;
  std::vector<int> sizes;
  for (int size = launched == 0 ? 1 : launched; size <= (launched == 0 ? 8 : launched); ++size) {
    if (size >= at_least) sizes.push_back(size);
  }
  return sizes;
}

/// A world whose ranks do not wait for long if something is wrong.
inline RunOptions world(int world_size) {
  return {.world_size = world_size, .deadline_seconds = 20};
}

/// The same for ranks that are going to wait in vain.
inline RunOptions stuck_world(int world_size) {
  return {.world_size = world_size, .deadline_seconds = 0.3};
}

// The sandbox, and whatever runs its ranks by the sandbox's rules, proves a deadlock; real machines
// can only give up (comm/communicator.h). All that is said about that difference is here.

/// Whether this backend may, or must, give up where the sandbox proves.
constexpr bool kMayTimeOut =
#if defined(RANKBOX_BACKEND_MPI) || defined(RANKBOX_BACKEND_NCCL)
    true;
#else
    false;
#endif

/// Checks that the run ended because nobody could go on.
inline void check_stuck(const Observation& seen) {
  INFO(what_of(seen.thrown));
  CHECK((ended_as<DeadlockError>(seen) || (kMayTimeOut && ended_as<TimedOut>(seen))));
}

/// Checks it for a rank's own end. Where ranks give up, one is first, and stops the others.
inline void check_stuck(const Observation& seen, int rank) {
  CAPTURE(rank);
  INFO(what_of(seen.ranks.at(static_cast<std::size_t>(rank))));
  CHECK((ended_as<DeadlockError>(seen, rank) ||
         (kMayTimeOut && (ended_as<TimedOut>(seen, rank) || ended_as<Aborted>(seen, rank)))));
}

}  // namespace rankbox::testing
