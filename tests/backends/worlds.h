// Which worlds the tests of all backends run, and checks that ask what the backend can do.
#pragma once

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/differences.h"
#include "tests/backends/observe.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {

/// 1 to 8 where ranks are threads, of which over NCCL, where a world takes long to start, a few
/// stand for the others; where ranks are processes, as many as were launched. Passes the test case
/// over if that is fewer than `at_least`.
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

/// Those of them in which a send is buffered as RunOptions::buffering says.
inline std::vector<int> worlds_that_buffer(int at_least = 1) {
  std::vector<int> sizes = world_sizes(at_least);
  if (std::erase_if(sizes, is_over_nccl) > 0 && sizes.empty())
    pass_over("what NCCL buffers cannot be set");
  return sizes;
}

/// Those of them in which ranks are told of calls that do not match, before data moves. Over NCCL
/// such a run ends with its deadline: tests/gpu has those.
inline std::vector<int> worlds_that_compare(int at_least = 1) {
  std::vector<int> sizes = world_sizes(at_least);
  if (std::erase_if(sizes, is_over_nccl) > 0 && sizes.empty())
    pass_over("NCCL does not compare calls");
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
