// Native collectives in flight: several at once, mixed with messages and computation, and waited
// for in any order.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/topology.h"
#include "comm/run_ranks.h"
#include "tests/backends/values.h"
#include "tests/backends/worlds.h"

namespace rankbox::testing {
namespace {

/// In the sandbox, whose calls are the same then, `blocking` adds random delays.
RunOptions world_of(int p, bool blocking) {
  RunOptions options = testing::world(p);
  options.blocking_calls = blocking;
  if (blocking) options.seed = static_cast<std::uint64_t>(p);
  return options;
}

TEST_CASE("several are under way at once, with messages, and waited for in an order of one's own") {
  for (int p : world_sizes(2)) {
    for (bool blocking : {false, true}) {
      for (std::int64_t count : {10, 30'000}) {
        const auto run = run_ranks(world_of(p, blocking), [&](Comm& dist) {
          const int rank = dist.rank();
          std::vector<Tensor> tensors;
          for (int i = 0; i < 6; ++i) tensors.push_back(full(count, static_cast<float>(rank + i)));
          Tensor in = zeros(count);
          std::vector<Request> requests;
          requests.push_back(dist.all_reduce_async(tensors[0]));
          requests.push_back(dist.irecv(in, prev_rank(rank, p)));
          requests.push_back(dist.broadcast_async(tensors[1], p - 1));
          requests.push_back(dist.barrier_async());
          requests.push_back(dist.isend(tensors[5], next_rank(rank, p)));
          requests.push_back(dist.all_reduce_async(tensors[2], ReduceOp::MAX));
          dist.all_reduce(tensors[3], ReduceOp::MIN);  // a blocking call does not overtake
          requests.push_back(dist.reduce_async(tensors[4], 1, ReduceOp::SUM));
          std::rotate(requests.begin(), requests.begin() + rank % 7, requests.end());
          if (rank % 2 == 0) std::reverse(requests.begin(), requests.end());
          dist.wait_all(requests);
          std::vector<float> last;
          for (const Tensor& tensor : tensors) last.push_back(to_host(tensor).back());
          last.push_back(to_host(in).back());
          return last;
        });
        CAPTURE(p);
        CAPTURE(blocking);
        CAPTURE(count);
        const auto ranks = static_cast<float>(p * (p - 1) / 2);
        for (int rank = 0; rank < p; ++rank) {
          const auto r = static_cast<float>(rank);
          CHECK(run.results[static_cast<std::size_t>(rank)] ==
                std::vector<float>{ranks, static_cast<float>(p), static_cast<float>(p + 1), 3,
                                   rank == 1 ? ranks + static_cast<float>(4 * p) : r + 4, r + 5,
                                   static_cast<float>(prev_rank(rank, p) + 5)});
        }
      }
    }
  }
}

TEST_CASE("a blocking collective between asynchronous ones that some ranks have waited for") {
  // The ranks that wait early have nothing in flight when they block; the others do.
  for (int p : world_sizes()) {
    for (bool blocking : {false, true}) {
      const auto run = run_ranks(world_of(p, blocking), [&](Comm& dist) {
        int wrong = 0;
        for (int round = 0; round < 30; ++round) {
          const std::int64_t count = round % 5 == 4 ? 50'000 : 7;
          Tensor a = full(count, static_cast<float>(dist.rank() == round % p ? round : -1));
          Tensor b = full(count, static_cast<float>(dist.rank()));
          const Request first = dist.broadcast_async(a, round % p);
          const bool early = (dist.rank() + round) % 2 == 0;
          if (early) dist.wait(first);
          dist.all_reduce(b, ReduceOp::MAX);
          if (!early) dist.wait(first);
          wrong += to_host(a).back() != static_cast<float>(round);
          wrong += to_host(b).front() != static_cast<float>(p - 1);
        }
        return wrong;
      });
      CAPTURE(p);
      CAPTURE(blocking);
      for (int wrong : run.results) CHECK(wrong == 0);
    }
  }
}

TEST_CASE("work between start and wait: on other tensors, and in calls") {
  for (int p : world_sizes()) {
    const auto run = run_ranks(testing::world(p), [&](Comm& dist) {
      Tensor sum = full(200'000, static_cast<float>(dist.rank()));
      Tensor own = full(1000, 1.0f);
      const Request request = dist.all_reduce_async(sum);
      for (int i = 0; i < 10; ++i) {
        own *= 2.0f;
        dist.compute(1e-4);
        Tensor in = zeros(1000);
        dist.sendrecv(own, next_rank(dist.rank(), p), in, prev_rank(dist.rank(), p));
        own = in;
      }
      dist.wait(request);
      return std::vector<float>{to_host(sum).back(), to_host(own).back()};
    });
    for (const auto& result : run.results)
      CHECK(result == std::vector<float>{static_cast<float>(p * (p - 1) / 2), 1024.0f});
  }
}

TEST_CASE("a hundred of them in flight") {
  for (int p : world_sizes()) {
    for (bool blocking : {false, true}) {
      const auto run = run_ranks(world_of(p, blocking), [&](Comm& dist) {
        std::vector<TensorOf<std::int64_t>> tensors;
        std::vector<Request> requests;
        for (int i = 0; i < 100; ++i) tensors.push_back(full<std::int64_t>(3, i + dist.rank()));
        for (int i = 0; i < 100; ++i) {
          auto& tensor = tensors[static_cast<std::size_t>(i)];
          requests.push_back(i % 2 == 0 ? dist.all_reduce_async(tensor, ReduceOp::MAX)
                                        : dist.broadcast_async(tensor, i % p));
        }
        if (dist.rank() % 2 == 1) std::reverse(requests.begin(), requests.end());
        dist.wait_all(requests);
        int wrong = 0;
        for (int i = 0; i < 100; ++i) {
          wrong += to_host(tensors[static_cast<std::size_t>(i)])[2] !=
                   (i % 2 == 0 ? i + p - 1 : i + i % p);
        }
        return wrong;
      });
      for (int wrong : run.results) CHECK(wrong == 0);
    }
  }
}

TEST_CASE("collectives in a row are not confused when some ranks run ahead") {
  for (int p : world_sizes()) {
    for (bool blocking : {false, true}) {
      const auto run = run_ranks(world_of(p, blocking), [&](Comm& dist) {
        float sum = 0;
        for (int i = 0; i < 50; ++i) {
          Tensor tensor = full(3, static_cast<float>(dist.rank() == i % p ? i : -1));
          dist.broadcast(tensor, i % p);
          sum += to_host(tensor)[2];
          if (i % 3 == 0) dist.barrier();
        }
        return sum;
      });
      for (float sum : run.results) CHECK(sum == 49 * 50 / 2);
    }
  }
}

TEST_CASE("no rank leaves a barrier before all have entered it") {
  // Rank 0 sends only after all have called; a message before the barrier would be too early.
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(testing::world(p), [&](Comm& dist) {
      std::vector<Tensor> boxes;
      std::vector<Request> receives;
      for (int i = 0; i < 5; ++i) boxes.push_back(zeros(1));
      for (int i = 0; i < 5; ++i) {
        if (dist.rank() == p - 1)
          receives.push_back(dist.irecv(boxes[static_cast<std::size_t>(i)], 0));
        dist.barrier();
        if (dist.rank() == 0) dist.send(full(1, static_cast<float>(i)), p - 1);
      }
      dist.wait_all(receives);
      std::vector<float> received;
      for (const Tensor& box : boxes) received.push_back(to_host(box)[0]);
      return received;
    });
    CHECK(run.results.back() == std::vector<float>{0, 1, 2, 3, 4});
  }
}

}  // namespace
}  // namespace rankbox::testing
