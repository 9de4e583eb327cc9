// Calls that are timed on NCCL, real or emulated: right, few records, AVG as NCCL computes it.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/device/devices.h"
#include "tests/gpu/nccl_test_world.h"
#include "tests/support/run_tests.h"

namespace rankbox::gpu {
namespace {

// More than a rank has events (NcclLaunches::kMost).
constexpr int kCalls = 200;

std::vector<float> numbers(int rank) {
  std::vector<float> values;
  for (int i = 0; i < 100; ++i) values.push_back(static_cast<float>(rank + i));
  return values;
}

/// Calls body(dist, backend, mistakes) on every rank of worlds whose calls may be timed.
template <class Body>
void in_timed_worlds(Body body) {
  for (int size = 1; size <= std::min(device_count(), 4); ++size) {
    CAPTURE(size);
    Mistakes mistakes;
    const NcclRun run =
        run_on_nccl({.world_size = size, .deadline_seconds = 20, .blocking_calls = true},
                    [&](Communicator& dist) {
                      Backend backend = dist.backend();
                      body(dist, backend, mistakes);
                    });
    CHECK(run.what() == "");
    CHECK(mistakes.found() == "");
  }
}

TEST_CASE("timed calls have the same results, one by one and in a group") {
  in_timed_worlds([](Communicator& dist, Backend& backend, Mistakes& mistakes) {
    const int p = dist.world_size();
    Tensor maximum = from_host(numbers(dist.rank()));
    const Tensor piece = full(1, static_cast<float>(dist.rank()));
    Tensor gathered = full(p, -1.0f);
    std::vector<float> ranks;
    for (int rank = 0; rank < p; ++rank) ranks.push_back(static_cast<float>(rank));
    const auto call_all = [&] {
      for (int k = 0; k < kCalls; ++k) {
        dist.all_reduce(maximum, ReduceOp::MAX);
        dist.all_gather(piece, gathered);
      }
    };
    backend.set_timed(true);
    call_all();
    dist.synchronize();
    mistakes.expect_equal(maximum, numbers(p - 1), "all_reduce");
    mistakes.expect_equal(gathered, ranks, "all_gather");
    backend.call_in_group(call_all);
    dist.synchronize();
    mistakes.expect_equal(maximum, numbers(p - 1), "all_reduce in a group");
    mistakes.expect_equal(gathered, ranks, "all_gather in a group");
    backend.set_timed(false);
    dist.split(dist.rank() % 2).barrier();  // a split where calls block, too
  });
}

TEST_CASE("timed messages arrive, started or at once") {
  in_timed_worlds([](Communicator& dist, Backend& backend, Mistakes& mistakes) {
    const int p = dist.world_size();
    if (p == 1) return;
    const int next = (dist.rank() + 1) % p;
    const int prev = (dist.rank() + p - 1) % p;
    const Tensor out = from_host(numbers(dist.rank()));
    Tensor in = full(100, -1.0f);
    Tensor later = full(100, -1.0f);
    backend.set_timed(true);
    for (int k = 0; k < kCalls; ++k) {
      dist.sendrecv(out, next, in, prev);
      const auto received = dist.irecv(later, prev);
      const auto sent = dist.isend(out, next);
      dist.wait_all({received, sent});
    }
    backend.set_timed(false);
    mistakes.expect_equal(in, numbers(prev), "sendrecv");
    mistakes.expect_equal(later, numbers(prev), "irecv");
  });
}

TEST_CASE("while calls are timed, AVG is ncclAvg, which rounds every rank's number") {
  if (device_count() < 3) return testing::pass_over("three GPUs");
  Mistakes mistakes;
  const NcclRun run = run_on_nccl(
      {.world_size = 3, .deadline_seconds = 20, .blocking_calls = true}, [&](Communicator& dist) {
        Backend backend = dist.backend();
        const auto average = [&](bool timed) {
          Tensor data = from_host(numbers(dist.rank()));
          backend.set_timed(timed);
          dist.all_reduce(data, ReduceOp::AVG);
          backend.set_timed(false);
          return data;
        };
        mistakes.expect_equal(average(false), numbers(1), "a sum and one division");
        const std::vector<float> rounded = to_host(average(true));
        mistakes.expect(rounded != numbers(1), "ncclAvg rounds");
        for (std::size_t i = 0; i < rounded.size(); ++i) {
          const float exact = numbers(1)[i];
          mistakes.expect(std::abs(rounded[i] - exact) <= exact * 0x1p-21f, "near the average");
        }
      });
  CHECK(run.what() == "");
  CHECK(mistakes.found() == "");
}

TEST_CASE("timed calls are not noted, and those before and after are") {
  if (device_count() < 2) return testing::pass_over("two GPUs");
  const NcclRun run = run_on_nccl({.world_size = 2, .deadline_seconds = 20, .blocking_calls = true},
                                  [](Communicator& dist) {
                                    Backend backend = dist.backend();
                                    Tensor data = from_host(numbers(dist.rank()));
                                    dist.broadcast(data, 0);
                                    backend.set_timed(true);
                                    dist.all_reduce(data);
                                    dist.synchronize();
                                    backend.set_timed(false);
                                    dist.reduce(data, 1);
                                  });
  CHECK(run.what() == "");
  REQUIRE(run.ends.size() == 2);
  for (const RankEnd& end : run.ends) {
    const auto has = [&](const char* op) {
      return std::ranges::any_of(end.log.flights,
                                 [&](const LoggedFlight& flight) { return flight.op == op; });
    };
    CHECK(has("broadcast"));
    CHECK_FALSE(has("all_reduce"));
    CHECK(has("reduce"));
  }
}

TEST_CASE("an exception leaves no group open") {
  in_timed_worlds([](Communicator& dist, Backend& backend, Mistakes& mistakes) {
    Tensor data = from_host(numbers(dist.rank()));
    backend.set_timed(true);
    try {
      backend.call_in_group([] { throw Error("no more"); });
      mistakes.expect(false, "no exception");
    } catch (const Error& error) {
      mistakes.expect(std::string(error.what()) == "no more", error.what());
    }
    dist.all_reduce(data, ReduceOp::MAX);
    dist.synchronize();  // nothing would be enqueued in an open group
    mistakes.expect_equal(data, numbers(dist.world_size() - 1), "all_reduce");
  });
}

}  // namespace
}  // namespace rankbox::gpu
