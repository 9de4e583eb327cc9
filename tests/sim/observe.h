// Runs a program that may fail, and returns how every rank ended.
//
// doctest's assertions belong to the main thread: ranks record their observations, and the test
// checks them afterwards. Functions named require_… or check_… are only for the main thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/topology.h"
#include "comm/errors.h"
#include "tests/sim/on_executor.h"
#include "tests/support/thrown.h"

namespace rankbox::testing {

struct Observation {
  std::exception_ptr thrown;              // by run_world; null: the run passed
  std::vector<std::exception_ptr> ranks;  // [rank] what its function threw; null: it returned
  RunReport report;
};

inline Observation observe(const RunOptions& options, const std::function<void(Comm&)>& body) {
  Observation seen;
  seen.ranks.resize(options.world_size > 0 ? static_cast<std::size_t>(options.world_size) : 0);
  try {
    run_world(
        options,
        [&](Comm& dist) {
          try {
            body(dist);
          } catch (...) {
            seen.ranks[static_cast<std::size_t>(dist.rank())] = std::current_exception();
            throw;
          }
        },
        &seen.report);
  } catch (...) {
    seen.thrown = std::current_exception();
  }
  return seen;
}

/// Returns the error that ended the run, which must be an E; else the test case ends here.
template <class E>
E require_error(const Observation& seen) {
  const std::optional<E> error = error_as<E>(seen.thrown);
  REQUIRE_MESSAGE(error.has_value(), "the run ended otherwise: ", what_of(seen.thrown));
  return *error;
}

/// Returns what the rank's function threw, which must be an E; else the test case ends here.
template <class E>
E require_error(const Observation& seen, int rank) {
  const std::exception_ptr& thrown = seen.ranks.at(static_cast<std::size_t>(rank));
  const std::optional<E> error = error_as<E>(thrown);
  REQUIRE_MESSAGE(error.has_value(), "rank ", rank, " ended otherwise: ", what_of(thrown));
  return *error;
}

/// Returns whether the run threw an E.
template <class E>
bool ended_as(const Observation& seen) {
  return error_as<E>(seen.thrown).has_value();
}

/// Returns whether the rank's function threw an E.
template <class E>
bool ended_as(const Observation& seen, int rank) {
  return error_as<E>(seen.ranks.at(static_cast<std::size_t>(rank))).has_value();
}

/// Checks that every rank's function threw an E, except that of `but`.
template <class E>
void check_all_ended_as(const Observation& seen, int but = -1) {
  for (int rank = 0; rank < static_cast<int>(seen.ranks.size()); ++rank) {
    if (rank == but) continue;
    CAPTURE(rank);
    INFO(what_of(seen.ranks[static_cast<std::size_t>(rank)]));
    CHECK(ended_as<E>(seen, rank));
  }
}

/// Calls body(seed) for this many values of RunOptions::seed: first 0, which does not perturb the
/// schedule, then others that do.
template <class Body>
void for_each_schedule(std::uint64_t schedules, Body body) {
  for (std::uint64_t seed = 0; seed < schedules; ++seed) {
    CAPTURE(seed);
    body(seed);
  }
}

/// Sleeps on rank `late`, so that the next call of the others comes first.
inline void delay(const Comm& dist, int late, double seconds = 0.005) {
  if (dist.rank() == late) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Returns one element from any memory.
template <class T>
T element(const TensorOf<T>& tensor, std::int64_t index) {
  return to_host(tensor).at(static_cast<std::size_t>(index));
}

/// Return the neighbours on the ring of all ranks.
inline int next_of(const Comm& dist) { return next_rank(dist.rank(), dist.world_size()); }
inline int prev_of(const Comm& dist) { return prev_rank(dist.rank(), dist.world_size()); }

}  // namespace rankbox::testing
