// Collectives of a few bytes take a separate path, with the same results.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {
namespace {

constexpr int kShort = 12;  // floats: the most that count as short
constexpr int kLong = 13;

/// Returns the sum over all ranks of the tensor that rank r fills with r + round.
float expected_sum(int world_size, int round) {
  return static_cast<float>(world_size * (world_size - 1) / 2 + world_size * round);
}

Tensor contribution(const Comm& dist, int count, int round) {
  return full(count, static_cast<float>(dist.rank() + round));
}

/// Returns the rounds after which a rank's sum was wrong.
int wrong_sums(const RunOptions& options, const std::vector<int>& counts) {
  const auto run = run_ranks(options, [&](Comm& dist) {
    int wrong = 0;
    for (int round = 0; round < static_cast<int>(counts.size()); ++round) {
      Tensor sum = contribution(dist, counts[static_cast<std::size_t>(round)], round);
      dist.all_reduce(sum);
      for (float value : to_host(sum)) wrong += value != expected_sum(dist.world_size(), round);
    }
    return wrong;
  });
  int wrong = 0;
  for (int of_rank : run.results) wrong += of_rank;
  return wrong;
}

TEST_CASE("short and long collectives follow each other in any order") {
  for (int world_size : {1, 2, 3, 5, 8, 17, 64, 65}) {
    CAPTURE(world_size);
    CHECK(wrong_sums({.world_size = world_size}, std::vector<int>(200, 1)) == 0);
    CHECK(wrong_sums({.world_size = world_size},
                     {1, kLong, 1, 1, kLong, kLong, 0, kShort, 1, 0, kLong, kShort}) == 0);
  }
}

TEST_CASE("ranks that are late, asleep or early make no difference") {
  for_each_schedule(20, [&](std::uint64_t seed) {
    CHECK(wrong_sums({.world_size = 2, .seed = seed}, std::vector<int>(100, 1)) == 0);
    CHECK(wrong_sums({.world_size = 4, .seed = seed}, {1, 1, kLong, 1, kShort, kLong, 1, 1}) == 0);
  });
}

TEST_CASE("ranks may run ahead with asynchronous collectives between short ones") {
  constexpr int kAhead = 10;
  for (int world_size : {1, 2, 3, 8}) {
    CAPTURE(world_size);
    const auto run = run_ranks({.world_size = world_size}, [](Comm& dist) {
      int wrong = 0;
      const auto check = [&](const Tensor& sum, int round) {
        wrong += sum.data()[0] != expected_sum(dist.world_size(), round);
      };
      int round = 0;
      for (int times = 0; times < 3; ++times) {
        for (int i = 0; i < 3; ++i, ++round) {
          Tensor sum = contribution(dist, 1, round);
          dist.all_reduce(sum);
          check(sum, round);
        }
        std::vector<Tensor> sums;
        std::vector<Comm::Request> requests;
        sums.reserve(kAhead);
        for (int i = 0; i < kAhead; ++i) {
          requests.push_back(
              dist.all_reduce_async(sums.emplace_back(contribution(dist, 1, round + i))));
        }
        dist.wait_all(requests);
        for (int i = 0; i < kAhead; ++i, ++round) check(sums[static_cast<std::size_t>(i)], round);
      }
      return wrong;
    });
    CHECK(run.results == std::vector<int>(static_cast<std::size_t>(world_size), 0));
  }
}

TEST_CASE("an asynchronous call on some ranks matches a short one on others") {
  for (int world_size : {2, 3, 5}) {
    const auto run = run_ranks({.world_size = world_size}, [](Comm& dist) {
      Tensor sum = contribution(dist, 1, 0);
      for (int round = 0; round < 4; ++round) {
        sum = contribution(dist, 1, round);
        if (round > 0 && (dist.rank() + round) % 2 == 0) {
          dist.wait(dist.all_reduce_async(sum));
        } else {
          dist.all_reduce(sum);
        }
      }
      return sum.data()[0];
    });
    CHECK(run.results ==
          std::vector<float>(static_cast<std::size_t>(world_size), expected_sum(world_size, 3)));
  }
}

TEST_CASE("groups of one world do not disturb each other") {
  const auto run = run_ranks({.world_size = 6}, [](Comm& dist) {
    Comm part = dist.split(dist.rank() % 2);
    int wrong = 0;
    for (int round = 0; round < 50; ++round) {
      Tensor inner = full(1, 1.0f);
      part.all_reduce(inner);
      Tensor outer = inner.data()[0] == 3.0f ? full(1, 1.0f) : full(1, 100.0f);
      dist.all_reduce(outer);
      wrong += outer.data()[0] != 6.0f;
    }
    return wrong;
  });
  CHECK(run.results == std::vector<int>(6, 0));
}

TEST_CASE("calls that differ are found while a third rank is elsewhere") {
  struct Pair {
    std::string what;
    void (*rank_0)(Comm&);
    void (*rank_1)(Comm&);
  };
  const Pair pairs[] = {
      {"op",
       [](Comm& dist) {
         Tensor t = zeros(1);
         dist.all_reduce(t, ReduceOp::SUM);
       },
       [](Comm& dist) {
         Tensor t = zeros(1);
         dist.all_reduce(t, ReduceOp::MAX);
       }},
      {"size",
       [](Comm& dist) {
         Tensor t = zeros(1);
         dist.all_reduce(t);
       },
       [](Comm& dist) {
         Tensor t = zeros(1000);
         dist.all_reduce(t);
       }},
      {"root",
       [](Comm& dist) {
         Tensor t = zeros(1);
         dist.broadcast(t, 0);
       },
       [](Comm& dist) {
         Tensor t = zeros(1);
         dist.broadcast(t, 1);
       }},
      {"collective", [](Comm& dist) { dist.barrier(); },
       [](Comm& dist) {
         Tensor t = zeros(1);
         dist.wait(dist.all_reduce_async(t));
       }},
  };
  for (const Pair& pair : pairs) {
    if (!wants_row(pair.what)) continue;
    for_each_schedule(4, [&](std::uint64_t seed) {
      const Observation seen = observe({.world_size = 3, .seed = seed}, [&](Comm& dist) {
        Tensor never = zeros(1);
        dist.rank() == 0   ? pair.rank_0(dist)
        : dist.rank() == 1 ? pair.rank_1(dist)
                           : dist.recv(never, 0);
      });
      CAPTURE(pair.what);
      CAPTURE(what_of(seen.thrown));
      CHECK(ended_as<CollectiveMismatch>(seen));
      CHECK(contains(what_of(seen.thrown), pair.what));
    });
  }
}

TEST_CASE("a short collective that one rank never calls is a proved deadlock") {
  for (int world_size : {2, 3, 8}) {
    CAPTURE(world_size);
    const Observation seen = observe({.world_size = world_size}, [](Comm& dist) {
      Tensor tensor = zeros(1);
      dist.all_reduce(tensor);
      if (dist.rank() == 1) {
        dist.recv(tensor, 0);
      } else {
        dist.all_reduce(tensor);
      }
    });
    const auto error = require_error<DeadlockError>(seen);
    CHECK(error.cycle() == std::vector<int>{0, 1});
    for (const Wait& wait : error.waits())
      CHECK(wait.peers == std::vector<int>{wait.rank == 1 ? 0 : 1});
  }
}

}  // namespace
}  // namespace rankbox::testing
