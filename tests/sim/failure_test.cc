// A rank that fails stops the world, and its failure is what the run reports.
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

/// Blocks until the world is stopped, in a different call on each rank.
void block_somehow(Comm& dist, int never) {
  Tensor tensor = zeros(1);
  Tensor other = zeros(1);
  switch (dist.rank() % 5) {
    case 0:
      return dist.recv(tensor, never);
    case 1:
      return dist.send(tensor, never);
    case 2:
      return dist.barrier();
    case 3:
      return dist.wait(dist.irecv(tensor, never));
    default:
      return dist.sendrecv(tensor, never, other, never);
  }
}

TEST_CASE("the first cause is rethrown, with its rank, and the others are aborted because of it") {
  for (int world_size : {1, 2, 5, 8}) {
    for (int failing = 0; failing < world_size; failing += 2) {
      for (int late : {0, 10}) {  // milliseconds: the others spin, or sleep
        CAPTURE(world_size);
        CAPTURE(failing);
        const Observation seen = observe({.world_size = world_size}, [&](Comm& dist) {
          if (dist.rank() == failing) {
            std::this_thread::sleep_for(std::chrono::milliseconds(late));
            throw NotImplemented("allreduce_ring");
          }
          block_somehow(dist, failing);
        });
        const auto error = require_error<NotImplemented>(seen);
        CHECK(error.rank() == failing);
        CHECK(error.op() == "allreduce_ring");
        for (int rank = 0; rank < world_size; ++rank) {
          if (rank == failing) continue;
          const auto aborted = require_error<Aborted>(seen, rank);
          CHECK(aborted.rank() == rank);
          CHECK(contains(aborted.what(), place_of(error)));  // the cause
        }
      }
    }
  }
}

TEST_CASE("a std::exception comes nested in RankFailed, which names the rank") {
  const Observation seen = observe({.world_size = 3}, [](Comm& dist) {
    if (dist.rank() == 2) throw std::out_of_range("index 7 of 5");
    dist.barrier();
  });
  const auto error = require_error<RankFailed>(seen);
  CHECK(error.rank() == 2);
  CHECK(contains(error.what(), "rank 2"));
  CHECK(contains(error.what(), "index 7 of 5"));
  std::string nested;
  try {
    std::rethrow_exception(seen.thrown);
  } catch (const RankFailed& outer) {
    try {
      std::rethrow_if_nested(outer);
    } catch (const std::out_of_range& inner) {
      nested = inner.what();
    }
  }
  CHECK(nested == "index 7 of 5");
}

TEST_CASE("what is not even a std::exception is reported all the same") {
  const Observation seen = observe({.world_size = 2}, [](Comm& dist) {
    if (dist.rank() == 1) throw 42;
    dist.barrier();
  });
  const auto error = require_error<RankFailed>(seen);
  CHECK(error.rank() == 1);
  int nested = 0;
  try {
    std::rethrow_exception(seen.thrown);
  } catch (const RankFailed& outer) {
    try {
      std::rethrow_if_nested(outer);
    } catch (int inner) {
      nested = inner;
    }
  }
  CHECK(nested == 42);
}

TEST_CASE("an error that already names its rank keeps it") {
  const Observation seen = observe({.world_size = 2}, [](Comm& dist) {
    if (dist.rank() == 1) throw Error("my own", {7, "op", 8, "f.cc", 9});
  });
  CHECK(require_error<Error>(seen).rank() == 7);
}

TEST_CASE("a rank that swallows being aborted does not hide the cause") {
  const Observation seen = observe({.world_size = 3}, [](Comm& dist) {
    if (dist.rank() == 0) throw std::runtime_error("the cause");
    for (int attempt = 0; attempt < 5; ++attempt) {
      try {
        dist.barrier();
      } catch (const Aborted&) {
      }
    }
  });
  CHECK(require_error<RankFailed>(seen).rank() == 0);
  CHECK(seen.ranks[1] == nullptr);
}

TEST_CASE("nothing can be done in a stopped world: every call is aborted, and new groups too") {
  std::vector<int> aborted(2, 0);
  const Observation seen =
      observe({.world_size = 2, .buffering = Buffering::unbounded()}, [&](Comm& dist) {
        if (dist.rank() == 0) throw std::runtime_error("the cause");
        try {
          dist.barrier();
        } catch (const Aborted&) {
        }
        Tensor tensor = zeros(2);
        Tensor gathered = zeros(4);
        const auto count = [&](auto call) {
          try {
            call();
          } catch (const Aborted&) {
            ++aborted[1];
          }
        };
        count([&] { dist.send(tensor, 0); });
        count([&] { dist.recv(tensor, 0); });
        count([&] { dist.sendrecv(tensor, 0, gathered, 0); });
        count([&] { dist.wait(dist.isend(tensor, 0)); });
        count([&] { dist.wait(dist.irecv(tensor, 0)); });
        count([&] { dist.barrier(); });
        count([&] { dist.all_gather(tensor, gathered); });
        count([&] { dist.wait(dist.all_reduce_async(tensor)); });
        count([&] { (void)dist.split(0); });
      });
  CHECK(ended_as<RankFailed>(seen));
  CHECK(aborted[1] == 9);
}

TEST_CASE("where several ranks fail, the run reports one of them, and never an Aborted") {
  for_each_schedule(30, [&](std::uint64_t seed) {
    const Observation seen = observe({.world_size = 4, .seed = seed}, [](Comm& dist) {
      Tensor tensor = zeros(1);
      if (dist.rank() >= 2) throw std::runtime_error("failed " + std::to_string(dist.rank()));
      dist.recv(tensor, dist.rank() + 2);
    });
    const auto error = require_error<RankFailed>(seen);
    CHECK((error.rank() == 2 || error.rank() == 3));
  });
}

TEST_CASE("an invalid argument stops the others as any failure does") {
  const Observation seen = observe({.world_size = 3}, [](Comm& dist) {
    Tensor tensor = zeros(1);
    if (dist.rank() == 1) dist.send(tensor, 3);
    dist.barrier();
  });
  CHECK(require_error<InvalidArgument>(seen).rank() == 1);
  check_all_ended_as<Aborted>(seen, /*but=*/1);
}

TEST_CASE("requests that are open when a rank fails are taken back: no write to freed memory") {
  for_each_schedule(20, [&](std::uint64_t seed) {
    const Observation seen = observe({.world_size = 3, .seed = seed}, [](Comm& dist) {
      Tensor in = zeros(1000);
      Tensor later = zeros(1000);
      Tensor out = zeros(1000);
      Tensor sum = zeros(20'000);
      const int next = next_of(dist);
      const int prev = prev_of(dist);
      std::vector<Request> requests = {dist.irecv(in, prev), dist.isend(out, next),
                                       dist.all_reduce_async(sum), dist.irecv(later, prev)};
      if (dist.rank() == 1) throw std::runtime_error("the cause");
      dist.wait_all(requests);
    });
    CHECK(require_error<RankFailed>(seen).rank() == 1);
  });
}

TEST_CASE("a failed run leaves a report: what was done until then") {
  const Observation seen = observe({.world_size = 2}, [](Comm& dist) {
    Tensor tensor = zeros(10);
    if (dist.rank() == 0) {
      dist.send(tensor, 1);
      dist.recv(tensor, 1);
    } else {
      dist.recv(tensor, 0);
      throw std::runtime_error("enough");
    }
  });
  REQUIRE(seen.thrown != nullptr);
  CHECK(seen.report.messages == 1);
  CHECK(seen.report.bytes == 40);
  REQUIRE(seen.report.trace.ranks.size() == 2);
  REQUIRE(seen.report.trace.ranks[0].size() == 2);
  CHECK(seen.report.trace.ranks[0][0].done);
  CHECK_FALSE(seen.report.trace.ranks[0][1].done);
  CHECK(seen.report.trace.ranks[1].size() == 1);
}

TEST_CASE("after a failed run the next one runs as if nothing had been") {
  for (int i = 0; i < 20; ++i) {
    const Observation failed = observe({.world_size = 4}, [&](Comm& dist) {
      Tensor tensor = zeros(1);
      if (i % 2 == 0 && dist.rank() == 3) throw std::runtime_error("the cause");
      dist.recv(tensor, next_of(dist));
    });
    REQUIRE(failed.thrown != nullptr);
    const auto run = run_ranks({.world_size = 4}, [](Comm& dist) {
      Tensor tensor = full(1, static_cast<float>(dist.rank()));
      dist.all_reduce(tensor);
      return element(tensor, 0);
    });
    CHECK(run.results == std::vector<float>(4, 6.0f));
  }
}

TEST_CASE("worlds may run at once: the failure of one is not the other's") {
  std::vector<int> wrong(4, 0);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 10; ++i) {
          const Observation seen = observe({.world_size = 3}, [&](Comm& dist) {
            Tensor tensor = full(1, 1.0f);
            dist.all_reduce(tensor);
            if (t % 2 == 0 && dist.rank() == 0) throw std::runtime_error("the cause");
            if (t % 2 == 0) dist.barrier();
          });
          wrong[static_cast<std::size_t>(t)] += (seen.thrown != nullptr) != (t % 2 == 0);
        }
      });
    }
  }
  CHECK(wrong == std::vector<int>(4, 0));
}

}  // namespace
}  // namespace rankbox::testing
