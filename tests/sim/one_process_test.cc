// Worlds whose ranks are threads or fibers of this process.
//
// They run inside ranks and at the same time. Their results and exceptions reach the caller as the
// objects that ranks made.
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

TEST_CASE("results come back by rank, also where they have no default and cannot be copied") {
  struct Answer {
    explicit Answer(int r) : rank(std::make_unique<int>(r)) {}
    std::unique_ptr<int> rank;
  };
  const auto run = run_ranks({.world_size = 5}, [](Comm& dist) { return Answer(dist.rank()); });
  for (int rank = 0; rank < 5; ++rank)
    CHECK(*run.results[static_cast<std::size_t>(rank)].rank == rank);
}

/// Returns the exception nested in the run's RankFailed; null if there is none.
std::exception_ptr nested_in(const Observation& seen) {
  try {
    if (seen.thrown != nullptr) std::rethrow_exception(seen.thrown);
  } catch (const RankFailed& outer) {
    const auto* const nested = dynamic_cast<const std::nested_exception*>(&outer);
    return nested == nullptr ? nullptr : nested->nested_ptr();
  } catch (...) {
  }
  return nullptr;
}

TEST_CASE("an exception of any type comes nested in RankFailed") {
  const Observation standard = observe({.world_size = 3}, [](Comm& dist) {
    if (dist.rank() == 2) throw std::out_of_range("index 7 of 5");
    dist.barrier();
  });
  CHECK(error_as<std::out_of_range>(nested_in(standard)).has_value());
  CHECK(what_of(nested_in(standard)) == "index 7 of 5");
  const Observation other = observe({.world_size = 2}, [](Comm& dist) {
    if (dist.rank() == 1) throw 42;
    dist.barrier();
  });
  CHECK(error_as<int>(nested_in(other)) == 42);
}

TEST_CASE("a rank may start another world, and go on afterwards") {
  const auto run = run_ranks({.world_size = 3}, [](Comm& dist) {
    const auto inner = run_ranks({.world_size = 2}, [&](Comm& other) {
      Tensor sum = full(1, static_cast<float>(dist.rank()));
      other.all_reduce(sum);
      return element(sum, 0);
    });
    Tensor sum = full(1, inner.results[1]);
    dist.all_reduce(sum);
    return element(sum, 0);
  });
  CHECK(run.results == std::vector<float>(3, 6.0f));
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

// Communicators are closed one by one, so the last one is open for a while.
TEST_CASE("a rank that was aborted cannot send, not even what is buffered, in any communicator") {
  const Observation seen =
      observe({.world_size = 2, .buffering = Buffering::unbounded()}, [](Comm& dist) {
        std::vector<Comm> many;
        for (int i = 0; i < 2000; ++i) many.push_back(dist.split(0));
        if (dist.rank() == 0) throw std::runtime_error("the cause");
        try {
          dist.barrier();
        } catch (const Aborted&) {
        }
        many.back().send(zeros(1), 0);
      });
  CHECK(require_error<RankFailed>(seen).rank() == 0);
  CHECK(ended_as<Aborted>(seen, 1));
}

}  // namespace
}  // namespace rankbox::testing
