// Exact virtual times.
#include "sim/clock/clock.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/sim/round_cluster.h"

namespace rankbox::testing {
namespace {

TEST_CASE("a message of n bytes takes α + nβ on both sides") {
  for (std::int64_t count : {0, 1, 100, 4096}) {
    const auto report = report_of(world_of(3), [&](Comm& dist) { pass(dist, 0, 1, count); });
    const double n = static_cast<double>(count) * 4;
    CAPTURE(count);
    CHECK(seconds_of(report) == std::vector<double>{kAlpha + n * kBeta, kAlpha + n * kBeta, 0});
    CHECK(report.cost == Cost{1, n, 0});
    CHECK(report.virtual_seconds == kAlpha + n * kBeta);
    CHECK(report.clocks[0].cost == Cost{1, n, 0});
    CHECK(report.clocks[2].cost == Cost{0, 0, 0});
  }
}

TEST_CASE("messages one after the other add up, along the chain that needs them") {
  for (int world_size : {2, 3, 8}) {
    const auto report = report_of(world_of(world_size), [&](Comm& dist) {
      for (int rank = 0; rank + 1 < dist.world_size(); ++rank) pass(dist, rank, rank + 1, 10);
    });
    CHECK(report.cost == Cost{world_size - 1.0, 40.0 * (world_size - 1), 0});
    // Rank 0 was free after its one message.
    CHECK(report.clocks[0].seconds == kAlpha + 40);
  }
}

TEST_CASE("messages of disjoint pairs go at the same time") {
  const auto report = report_of(world_of(8), [](Comm& dist) {
    const int partner = dist.rank() ^ 1;
    pass(dist, std::min(dist.rank(), partner), std::max(dist.rank(), partner), 10);
  });
  CHECK(seconds_of(report) == std::vector<double>(8, kAlpha + 40));
}

TEST_CASE("a message waits for its later side") {
  const auto report = report_of(world_of(2), [](Comm& dist) {
    if (dist.rank() == 1) dist.compute(5000);
    pass(dist, 0, 1, 2);
  });
  CHECK(seconds_of(report) == std::vector<double>(2, 5000 + kAlpha + 8));
  // Computing does not count in the exact coefficients.
  CHECK(report.cost == Cost{1, 8, 0});
}

TEST_CASE("a sendrecv is one α for both directions, and takes as long as the longer") {
  const auto ring = report_of(world_of(5), [](Comm& dist) {
    const Tensor out = zeros(16);
    Tensor in = zeros(16);
    dist.sendrecv(out, next_of(dist), in, prev_of(dist));
  });
  CHECK(seconds_of(ring) == std::vector<double>(5, kAlpha + 64));
  CHECK(ring.cost == Cost{1, 64, 0});

  const auto uneven = report_of(world_of(2), [](Comm& dist) {
    const Tensor out = zeros(dist.rank() == 0 ? 100 : 1);
    Tensor in = zeros(dist.rank() == 0 ? 1 : 100);
    dist.sendrecv(out, 1 - dist.rank(), in, 1 - dist.rank());
  });
  CHECK(uneven.cost == Cost{1, 400, 0});
}

TEST_CASE("a reduction of n bytes takes nγ; scaling and copying are free") {
  const auto report = report_of(world_of(1), [](Comm&) {
    Tensor a = zeros(100);
    const Tensor b = zeros(100);
    a += b;
    a *= b;
    accumulate(chunk(a, 0, 2), chunk(b, 1, 2), ReduceOp::MAX);
    a = maximum(a, b);
    a = minimum(a, b);
    a *= 2.0f;
    a /= 2.0f;
    copy(a, b);
    a = clone(b);
    TensorOf<double> c = zeros<double>(10);
    c += full<double>(10, 1.0);
  });
  const double bytes = 400 + 400 + 200 + 400 + 400 + 80;
  CHECK(report.cost == Cost{0, 0, bytes});
  CHECK(report.virtual_seconds == bytes * kGamma);
}

TEST_CASE("compute takes what it says, on the rank that computes") {
  const auto report = report_of(world_of(3), [](Comm& dist) {
    dist.compute(dist.rank() * 3);
    dist.compute(0.5);
  });
  CHECK(seconds_of(report) == std::vector<double>{0.5, 3.5, 6.5});
  CHECK(report.cost == Cost{0, 0, 0});
}

TEST_CASE("an isend overlaps what its rank computes: the longer of the two counts") {
  for (double work : {0.0, 100.0, kAlpha + 400, 10'000.0}) {
    const auto report = report_of(world_of(2), [&](Comm& dist) {
      Tensor tensor = zeros(100);
      if (dist.rank() == 0) {
        const Request request = dist.isend(tensor, 1);
        dist.compute(work);
        dist.wait(request);
      } else {
        dist.recv(tensor, 0);
      }
    });
    CAPTURE(work);
    CHECK(seconds_of(report) == std::vector<double>{std::max(work, kAlpha + 400), kAlpha + 400});
    CHECK(report.cost == Cost{1, 400, 0});
  }
}

TEST_CASE("what is computed after the wait comes after the message") {
  const auto report = report_of(world_of(2), [](Comm& dist) {
    Tensor tensor = zeros(100);
    const Request request = dist.rank() == 0 ? dist.isend(tensor, 1) : dist.irecv(tensor, 0);
    dist.compute(10);
    dist.wait(request);
    dist.compute(7);
  });
  CHECK(seconds_of(report) == std::vector<double>(2, kAlpha + 400 + 7));
}

TEST_CASE("a rank has one port in: a gather takes p - 1 messages' time though all start at once") {
  for (int world_size : {2, 3, 5, 8}) {
    const auto report = report_of(world_of(world_size), [](Comm& dist) {
      if (dist.rank() != 0) return dist.send(zeros(25), 0);
      std::vector<Tensor> boxes;
      std::vector<Request> requests;
      for (int src = 1; src < dist.world_size(); ++src) boxes.push_back(zeros(25));
      for (int src = 1; src < dist.world_size(); ++src) {
        requests.push_back(dist.irecv(boxes[static_cast<std::size_t>(src - 1)], src));
      }
      dist.wait_all(requests);
    });
    CAPTURE(world_size);
    CHECK(report.clocks[0].seconds == (world_size - 1) * (kAlpha + 100));
    CHECK(report.cost == Cost{world_size - 1.0, 100.0 * (world_size - 1), 0});
    // Of the transfers that could start together, the lowest goes first.
    for (int src = 1; src < world_size; ++src) {
      CHECK(report.clocks[static_cast<std::size_t>(src)].seconds == src * (kAlpha + 100));
    }
  }
}

TEST_CASE("a rank has one port out: several isends follow each other") {
  const auto report = report_of(world_of(4), [](Comm& dist) {
    Tensor tensor = zeros(25);
    if (dist.rank() != 0) return dist.recv(tensor, 0);
    dist.wait_all({dist.isend(tensor, 1), dist.isend(tensor, 2), dist.isend(tensor, 3)});
  });
  CHECK(report.clocks[0].seconds == 3 * (kAlpha + 100));
}

TEST_CASE("of messages that could leave together the one that the program has first goes first") {
  const auto report = report_of(world_of(4), [](Comm& dist) {
    Tensor tensor = zeros(25);
    if (dist.rank() != 0) return dist.recv(tensor, 0);
    dist.wait_all({dist.isend(tensor, 3), dist.isend(tensor, 1), dist.isend(tensor, 2)});
  });
  const double one = kAlpha + 100;
  CHECK(seconds_of(report) == std::vector<double>{3 * one, 2 * one, 3 * one, one});
}

TEST_CASE("an all-to-all that starts everything at once takes p - 1 messages' time") {
  for (int p : {2, 5, 8}) {
    const auto report = report_of(world_of(p), [p](Comm& dist) {
      Tensor tensor = zeros(25);
      std::vector<Tensor> from(static_cast<std::size_t>(p), tensor);
      std::vector<Request> requests;
      for (int step = 1; step < p; ++step) {
        const int src = wrap(dist.rank() - step, p);
        requests.push_back(dist.irecv(from[static_cast<std::size_t>(src)], src));
        requests.push_back(dist.isend(tensor, wrap(dist.rank() + step, p)));
      }
      dist.wait_all(requests);
    });
    CHECK(seconds_of(report) ==
          std::vector<double>(static_cast<std::size_t>(p), (p - 1) * (kAlpha + 100)));
  }
}

TEST_CASE("an all-to-all of uneven chunks that starts everything at once keeps its order") {
  // 97 elements, 4 ranks: chunk 0 is one element longer. A port that took any transfer that could
  // start first would leave the schedule at the first step, and need four messages' time.
  const auto report = report_of(world_of(4), [](Comm& dist) {
    const Tensor input = zeros(97);
    std::vector<Tensor> from(4, zeros(chunk(input, dist.rank(), 4).size()));
    std::vector<Request> requests;
    for (int step = 1; step < 4; ++step) {
      const int src = wrap(dist.rank() - step, 4);
      const int dst = wrap(dist.rank() + step, 4);
      requests.push_back(dist.irecv(from[static_cast<std::size_t>(src)], src));
      requests.push_back(dist.isend(chunk(input, dst, 4), dst));
    }
    dist.wait_all(requests);
  });
  CHECK(report.cost == Cost{3, 3 * 25 * 4, 0});
}

TEST_CASE("a message waits behind one that its program has first, though its receiver is free") {
  // Rank 0 is busy with rank 2's message; rank 1's is queued after it, and rank 3 waits.
  const auto report = report_of(world_of(4), [](Comm& dist) {
    Tensor tensor = zeros(25);
    Tensor other = zeros(25);
    if (dist.rank() == 2) return dist.send(tensor, 0);
    if (dist.rank() == 3) return dist.recv(tensor, 1);
    if (dist.rank() == 1) {
      dist.compute(1);
      return dist.wait_all({dist.isend(tensor, 0), dist.isend(other, 3)});
    }
    dist.wait_all({dist.irecv(tensor, 2), dist.irecv(other, 1)});
  });
  const double one = kAlpha + 100;
  CHECK(seconds_of(report) == std::vector<double>{2 * one, 3 * one, one, 3 * one});
}

TEST_CASE("a message whose receiver has not come to it delays no other message") {
  const auto report = report_of(world_of(3), [](Comm& dist) {
    Tensor tensor = zeros(25);
    if (dist.rank() == 0) return dist.wait_all({dist.isend(tensor, 1), dist.isend(tensor, 2)});
    if (dist.rank() == 1) dist.compute(1);
    dist.recv(tensor, 0);
  });
  const double one = kAlpha + 100;
  CHECK(seconds_of(report) == std::vector<double>{2 * one, 2 * one, one});
}

TEST_CASE("full duplex: a send and a receive of one rank do not wait for each other") {
  const auto report = report_of(world_of(3), [](Comm& dist) {
    Tensor out = zeros(25);
    Tensor in = zeros(25);
    if (dist.rank() == 1) {
      dist.wait_all({dist.irecv(in, 0), dist.isend(out, 2)});
    } else {
      pass(dist, 0, 1, dist.rank() == 0 ? 25 : 0);
      if (dist.rank() == 2) dist.recv(in, 1);
    }
  });
  CHECK(seconds_of(report) == std::vector<double>(3, kAlpha + 100));
}

TEST_CASE("the message that can start first takes the port, whatever was posted first") {
  // Rank 2 posts its receive from 1 first; rank 1 is late. Rank 0's message does not wait.
  const auto report = report_of(world_of(3), [](Comm& dist) {
    Tensor a = zeros(25);
    Tensor b = zeros(25);
    if (dist.rank() == 2) {
      const Request from_1 = dist.irecv(a, 1);
      const Request from_0 = dist.irecv(b, 0);
      dist.wait_all({from_1, from_0});
      return;
    }
    if (dist.rank() == 1) dist.compute(50'000);
    dist.send(a, 2);
  });
  CHECK(seconds_of(report) ==
        std::vector<double>{kAlpha + 100, 50'000 + kAlpha + 100, 50'000 + kAlpha + 100});
}

TEST_CASE("receives posted early and out of order do not block the clock") {
  // All ranks post all receives, and wait in an order other than that of arrival.
  const auto report = report_of(world_of(4), [](Comm& dist) {
    std::vector<Tensor> boxes(8, zeros(1));
    std::vector<Request> receives;
    std::vector<Request> sends;
    for (int peer = 3; peer >= 0; --peer) {
      if (peer != dist.rank())
        receives.push_back(dist.irecv(boxes[static_cast<std::size_t>(peer)], peer));
    }
    for (int step = 1; step < 4; ++step) {
      const int peer = wrap(dist.rank() + step, 4);
      sends.push_back(dist.isend(boxes[static_cast<std::size_t>(4 + peer)], peer));
    }
    for (const Request& receive : receives) {
      dist.wait(receive);
      dist.compute(1);
    }
    dist.wait_all(sends);
  });
  // Rank 2 waits for its last message first, and computes three times after it; 0 and 3 wait in
  // order of arrival.
  const double last = 3 * (kAlpha + 4);
  CHECK(seconds_of(report) == std::vector<double>{last + 1, last + 2, last + 3, last + 1});
  for (const Clock& clock : report.clocks) CHECK(clock.cost == Cost{3, 12, 0});
  const Replay replay = replay_trace(report.trace, round_cluster());
  for (const auto& spans : replay.spans) {
    for (const Span& span : spans) CHECK(span.end >= span.begin);
  }
}

TEST_CASE("a buffered send ends for its sender when it has left") {
  RunOptions options = world_of(2);
  options.buffering = Buffering::unbounded();
  const auto report = report_of(options, [](Comm& dist) {
    if (dist.rank() == 1) dist.compute(100'000);
    pass(dist, 0, 1, 25);
  });
  CHECK(report.clocks[0].seconds == kAlpha + 100);
  CHECK(report.clocks[1].seconds == 100'000 + kAlpha + 100);
}

TEST_CASE("links between nodes have their own price") {
  // 4 ranks on 2 nodes: 0 1 | 2 3.
  const auto within = report_of(world_of(4, 2), [](Comm& dist) { pass(dist, 0, 1, 25); });
  CHECK(within.virtual_seconds == kAlpha + 100);
  const auto between = report_of(world_of(4, 2), [](Comm& dist) { pass(dist, 1, 2, 25); });
  CHECK(between.virtual_seconds == 4 * kAlpha + 800);
  CHECK(between.cost == Cost{1, 100, 0});
  const auto both = report_of(world_of(4, 2), [](Comm& dist) {
    pass(dist, 0, 1, 25);
    pass(dist, 1, 2, 25);
    pass(dist, 2, 3, 25);
  });
  CHECK(both.virtual_seconds == 6 * kAlpha + 1000);
}

TEST_CASE("a native collective starts when its last rank comes, and costs the same for all") {
  const auto report = report_of(world_of(4), [](Comm& dist) {
    dist.compute(dist.rank() * 1000);
    dist.barrier();
  });
  CHECK(seconds_of(report) == std::vector<double>(4, 3000 + 2 * kAlpha));
  CHECK(report.cost == Cost{2, 0, 0});

  const auto gather = report_of(world_of(3), [](Comm& dist) {
    Tensor all = zeros(30);
    dist.all_gather(zeros(10), all);
  });
  CHECK(gather.cost == Cost{2, 80, 0});

  const auto alone = report_of(world_of(1), [](Comm& dist) {
    Tensor tensor = zeros(10);
    dist.all_reduce(tensor);
    dist.barrier();
  });
  CHECK(alone.cost == Cost{0, 0, 0});
}

TEST_CASE("a native collective across nodes pays the price of the slower links") {
  const auto report = report_of(world_of(4, 2), [](Comm& dist) { dist.barrier(); });
  CHECK(report.virtual_seconds == 2 * 4 * kAlpha);
  const auto inside = report_of(world_of(4, 2), [](Comm& dist) {
    Comm node = dist.split(dist.node());  // which synchronizes all ranks
    node.barrier();
  });
  CHECK(inside.virtual_seconds == 2 * 4 * kAlpha + kAlpha);
}

TEST_CASE("an asynchronous all_reduce overlaps what its rank computes") {
  const auto alone = report_of(world_of(4), [](Comm& dist) {
    Tensor tensor = zeros(1000);
    dist.all_reduce(tensor);
  });
  const double price = alone.virtual_seconds;
  REQUIRE(price > 0);
  for (double work : {0.0, price / 2, price, price * 4}) {
    const auto report = report_of(world_of(4), [&](Comm& dist) {
      Tensor tensor = zeros(1000);
      const Request request = dist.all_reduce_async(tensor);
      dist.compute(work);
      dist.wait(request);
    });
    CAPTURE(work);
    CHECK(seconds_of(report) == std::vector<double>(4, std::max(work, price)));
    CHECK(report.cost == alone.cost);
  }
  // Two of them share the ports: one after the other.
  const auto twice = report_of(world_of(4), [](Comm& dist) {
    Tensor a = zeros(1000);
    Tensor b = zeros(1000);
    dist.wait_all({dist.all_reduce_async(a), dist.all_reduce_async(b)});
  });
  CHECK(twice.virtual_seconds == 2 * price);
}

}  // namespace
}  // namespace rankbox::testing
