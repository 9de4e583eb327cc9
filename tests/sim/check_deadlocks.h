// Properties of every deadlock, for any kind of wait.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {

/// The expected wait of a rank.
struct Blocked {
  int rank;
  std::string op;
  std::vector<int> peers;
  long long bytes;
  int line;
};

inline void check_error_of_rank(const std::string& file, int rank, const DeadlockError& error,
                                const std::vector<Blocked>& blocked,
                                const std::vector<int>& cycle) {
  CAPTURE(rank);
  REQUIRE(error.waits().size() == blocked.size());
  for (std::size_t i = 0; i < blocked.size(); ++i) {
    CAPTURE(i);
    const Wait& wait = error.waits()[i];
    CHECK(wait.rank == blocked[i].rank);
    CHECK(wait.op == blocked[i].op);
    CHECK(wait.peers == blocked[i].peers);
    CHECK(wait.bytes == blocked[i].bytes);
    CHECK(wait.line == blocked[i].line);
    CHECK(wait.file == file);
  }
  CHECK(error.cycle() == cycle);
}

/// Runs the program under several schedules, which must all prove the same deadlock. Every blocked
/// rank must get it, with the same text, and the others must have returned. Returns the message.
/// @param body stores in `line` the line on which the rank is going to block
/// @param place in the file of the program
inline std::string check_deadlocks(RunOptions options,
                                   const std::function<void(Comm&, int& line)>& body,
                                   std::vector<Blocked> blocked, const std::vector<int>& cycle,
                                   Place place = Place::current()) {
  const std::string file = place.file_name();
  std::string report;
  for_each_schedule(4, [&](std::uint64_t seed) {
    options.seed = seed;
    std::vector<int> lines(static_cast<std::size_t>(options.world_size), 0);
    const Observation seen = observe(
        options, [&](Comm& dist) { body(dist, lines[static_cast<std::size_t>(dist.rank())]); });
    for (Blocked& rank : blocked) rank.line = lines[static_cast<std::size_t>(rank.rank)];

    INFO(what_of(seen.thrown));
    const auto error = require_error<DeadlockError>(seen);
    check_error_of_rank(file, -1, error, blocked, cycle);
    CHECK(error.rank() == (cycle.empty() ? blocked.front().rank : cycle.front()));
    for (int rank = 0; rank < options.world_size; ++rank) {
      const std::exception_ptr& ended = seen.ranks[static_cast<std::size_t>(rank)];
      const bool is_blocked = std::any_of(blocked.begin(), blocked.end(),
                                          [&](const Blocked& b) { return b.rank == rank; });
      CAPTURE(rank);
      REQUIRE((ended != nullptr) == is_blocked);
      if (!is_blocked) continue;
      const auto rank_error = require_error<DeadlockError>(seen, rank);
      check_error_of_rank(file, rank, rank_error, blocked, cycle);
      CHECK(rank_error.rank() == rank);
      CHECK(std::string(rank_error.what()) == error.what());
    }

    const std::string what = error.what();
    for (std::size_t i = 0; i < cycle.size() && i < 8; ++i) {
      const auto at = std::find_if(blocked.begin(), blocked.end(),
                                   [&](const Blocked& b) { return b.rank == cycle[i]; });
      CHECK(contains(what, "rank " + std::to_string(cycle[i])));
      if (at != blocked.end()) {
        CHECK(contains(what, file + ":" + std::to_string(at->line)));
      }
    }
    CHECK(std::count(what.begin(), what.end(), '\n') <= 11);
    if (report.empty()) report = what;
    CHECK(what == report);
  });
  return report;
}

}  // namespace rankbox::testing
