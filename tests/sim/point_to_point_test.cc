// Messages: the right values at the right rank, in the right order.
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

constexpr std::array kWorldSizes = {1, 2, 3, 4, 5, 7, 8, 17};
// Around the sizes at which a mailbox may change its path (a cache line, a page), and some others.
constexpr std::array<std::int64_t, 12> kCounts = {0, 1, 2, 4, 5, 10, 11, 20, 21, 100, 1023, 5000};

/// Returns what rank `rank` sends as its message `number`: exact in every dtype.
template <class T>
std::vector<T> letter(int rank, int number, std::int64_t count) {
  std::vector<T> made;
  for (std::int64_t i = 0; i < count; ++i) {
    made.push_back(static_cast<T>(rank * 10007 + number * 101 + i % 89));
  }
  return made;
}

/// Returns the counts for which `received` is not what rank `from` sent as message `number`.
template <class T>
std::vector<std::int64_t> wrong_counts(const std::vector<std::vector<T>>& received, int from,
                                       int number) {
  std::vector<std::int64_t> wrong;
  for (std::size_t i = 0; i < kCounts.size(); ++i) {
    if (received.at(i) != letter<T>(from, number, kCounts[i])) wrong.push_back(kCounts[i]);
  }
  return wrong;
}

TEST_CASE_TEMPLATE("a message handed around the ring arrives everywhere as it was sent", T, float,
                   double, std::int32_t, std::int64_t) {
  for (int world_size : kWorldSizes) {
    if (world_size == 1) continue;
    const auto run = run_ranks({.world_size = world_size}, [](Comm& dist) {
      std::vector<std::vector<T>> received;
      for (std::int64_t count : kCounts) {
        TensorOf<T> tensor = zeros<T>(count);
        if (dist.rank() == 0) {
          tensor = from_host(letter<T>(42, 1, count));
          dist.send(tensor, next_of(dist));
          dist.recv(tensor, prev_of(dist));
        } else {
          dist.recv(tensor, prev_of(dist));
          dist.send(tensor, next_of(dist));
        }
        received.push_back(to_host(tensor));
      }
      return received;
    });
    CAPTURE(world_size);
    for (const auto& received : run.results) CHECK(wrong_counts<T>(received, 42, 1).empty());
    std::int64_t bytes = 0;
    for (std::int64_t count : kCounts) {
      bytes += world_size * count * static_cast<std::int64_t>(sizeof(T));
    }
    CHECK(run.report.messages == world_size * static_cast<std::int64_t>(kCounts.size()));
    CHECK(run.report.bytes == bytes);
  }
}

TEST_CASE_TEMPLATE("sendrecv exchanges with two neighbours at once, also with oneself", T, float,
                   double, std::int32_t, std::int64_t) {
  for (int world_size : kWorldSizes) {
    const auto run = run_ranks({.world_size = world_size}, [](Comm& dist) {
      std::vector<std::vector<T>> received;
      for (std::int64_t count : kCounts) {
        const TensorOf<T> out = from_host(letter<T>(dist.rank(), 2, count));
        TensorOf<T> in = zeros<T>(count);
        dist.sendrecv(out, next_of(dist), in, prev_of(dist));
        received.push_back(to_host(in));
      }
      return received;
    });
    CAPTURE(world_size);
    for (int rank = 0; rank < world_size; ++rank) {
      const int from = prev_rank(rank, world_size);
      CHECK(wrong_counts<T>(run.results[static_cast<std::size_t>(rank)], from, 2).empty());
    }
  }
}

TEST_CASE("the two halves of a sendrecv may differ in size and dtype") {
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    if (dist.rank() == 0) {
      TensorOf<double> in = zeros<double>(3);
      dist.sendrecv(full({7}, 1.5f), 1, in, 1);
      return element(in, 2);
    }
    Tensor in = zeros(7);
    dist.sendrecv(full<double>(3, 2.5), 0, in, 0);
    return static_cast<double>(element(in, 6));
  });
  CHECK(run.results == std::vector<double>{2.5, 1.5});
}

TEST_CASE("a sendrecv matches a plain send and a plain receive") {
  const auto run = run_ranks({.world_size = 3}, [](Comm& dist) {
    Tensor in = full(4, -1.0f);
    const Tensor out = full(4, static_cast<float>(dist.rank()));
    if (dist.rank() == 0) dist.sendrecv(out, 1, in, 2);
    if (dist.rank() == 1) dist.recv(in, 0);
    if (dist.rank() == 2) dist.send(out, 0);
    return element(in, 3);
  });
  CHECK(run.results == std::vector<float>{2, 0, -1});
}

TEST_CASE("all ranks send to all with isend and irecv, and wait in any order") {
  for (int world_size : kWorldSizes) {
    for (std::int64_t count :
         {std::int64_t{0}, std::int64_t{3}, std::int64_t{13}, std::int64_t{999}}) {
      const auto run = run_ranks({.world_size = world_size}, [&](Comm& dist) {
        const int p = dist.world_size();
        std::vector<Tensor> in;
        std::vector<Tensor> out;
        for (int peer = 0; peer < p; ++peer) {
          in.push_back(zeros(count));
          out.push_back(from_host(letter<float>(dist.rank(), peer, count)));
        }
        std::vector<Request> receives;
        std::vector<Request> sends;
        for (int peer = 0; peer < p; ++peer) {
          receives.push_back(dist.irecv(in[static_cast<std::size_t>(peer)], peer));
        }
        for (int peer = p - 1; peer >= 0; --peer) {
          sends.push_back(dist.isend(out[static_cast<std::size_t>(peer)], peer));
        }
        // The last started first, with ranks disagreeing on which kind comes first.
        if (dist.rank() % 2 == 0) dist.wait_all(sends);
        for (auto receive = receives.rbegin(); receive != receives.rend(); ++receive) {
          dist.wait(*receive);
        }
        if (dist.rank() % 2 != 0) dist.wait_all(sends);
        dist.wait_all(sends);  // waiting again for a finished request is harmless
        bool right = true;
        for (int peer = 0; peer < p; ++peer) {
          right = right && to_host(in[static_cast<std::size_t>(peer)]) ==
                               letter<float>(peer, dist.rank(), count);
        }
        return right;
      });
      CAPTURE(world_size);
      CAPTURE(count);
      for (bool right : run.results) CHECK(right);
    }
  }
}

TEST_CASE("wait_all takes a list, and a copy of a request stands for the same operation") {
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    const int partner = 1 - dist.rank();
    const Tensor out = full(2, static_cast<float>(dist.rank() + 5));
    Tensor in = zeros(2);
    Request receive = dist.irecv(in, partner);
    const Request copy = receive;
    const Request send = dist.isend(out, partner);
    receive = Request();  // the copy keeps it alive
    dist.wait_all({send, copy});
    return element(in, 1);
  });
  CHECK(run.results == std::vector<float>{6, 5});
}

TEST_CASE("messages of one pair keep their order, whatever calls they were made with") {
  constexpr int kMessages = 200;
  for (Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
    const auto run = run_ranks({.world_size = 2, .buffering = buffering}, [&](Comm& dist) {
      std::vector<TensorOf<std::int64_t>> boxes;
      for (int i = 0; i < kMessages; ++i)
        boxes.push_back(full<std::int64_t>(1, dist.rank() == 0 ? i : -1));
      std::vector<Request> requests;
      for (int i = 0; i < kMessages; ++i) {
        TensorOf<std::int64_t>& box = boxes[static_cast<std::size_t>(i)];
        // Runs of asynchronous calls between blocking ones, of different lengths on either side.
        const bool async = i % (dist.rank() == 0 ? 7 : 5) != 0;
        if (dist.rank() == 0) {
          async ? requests.push_back(dist.isend(box, 1)) : dist.send(box, 1);
        } else {
          async ? requests.push_back(dist.irecv(box, 0)) : dist.recv(box, 0);
        }
      }
      dist.wait_all(requests);
      std::vector<std::int64_t> received;
      for (const TensorOf<std::int64_t>& box : boxes) received.push_back(element(box, 0));
      return received;
    });
    CHECK(run.results[1] == run.results[0]);
    CHECK(run.results[1].back() == kMessages - 1);
  }
}

TEST_CASE("messages of several pairs do not get into each other's way") {
  // Rank 0 receives from the others in a different order: messages of one source never wait for
  // those of another.
  constexpr int kRounds = 20;
  for (int world_size : {2, 3, 5, 8}) {
    const auto run = run_ranks({.world_size = world_size}, [&](Comm& dist) {
      std::vector<float> received;
      if (dist.rank() == 0) {
        for (int round = 0; round < kRounds; ++round) {
          for (int k = 1; k < dist.world_size(); ++k) {
            const int src =
                1 + (k * (round % 2 == 0 ? 1 : -1) + round + dist.world_size() * kRounds) %
                        (dist.world_size() - 1);
            Tensor box = zeros(1);
            dist.recv(box, src);
            received.push_back(element(box, 0) - static_cast<float>(src * 1000 + round));
          }
        }
      } else {
        for (int round = 0; round < kRounds; ++round) {
          dist.send(full(1, static_cast<float>(dist.rank() * 1000 + round)), 0);
        }
      }
      return received;
    });
    CAPTURE(world_size);
    CHECK(run.results[0] ==
          std::vector<float>(static_cast<std::size_t>(kRounds * (world_size - 1)), 0.0f));
  }
}

TEST_CASE(
    "a rank may send to itself what it has begun to receive, and receive what it has begun to "
    "send") {
  const auto run = run_ranks({.world_size = 1}, [](Comm& dist) {
    Tensor a = full(3, 1.0f);
    Tensor b = zeros(3);
    const Request receive = dist.irecv(b, 0);
    dist.send(a, 0);
    dist.wait(receive);
    Tensor c = zeros(3);
    const Request send = dist.isend(b, 0);
    dist.recv(c, 0);
    dist.wait(send);
    return to_host(c);
  });
  CHECK(run.results[0] == std::vector<float>(3, 1.0f));
}

TEST_CASE("only the slice is written, not its neighbours") {
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    Tensor tensor = full(100, dist.rank() == 0 ? 7.0f : 0.0f);
    for (int part = 0; part < 9; part += 2) {
      if (dist.rank() == 0) dist.send(chunk(tensor, part, 9), 1);
      if (dist.rank() == 1) dist.recv(chunk(tensor, part, 9), 0);
    }
    return to_host(tensor);
  });
  for (std::int64_t i = 0; i < 100; ++i) {
    bool sent = false;
    for (std::int64_t part = 0; part < 9; part += 2) {
      sent = sent || (i >= part * 100 / 9 && i < (part + 1) * 100 / 9);
    }
    CAPTURE(i);
    CHECK(run.results[1][static_cast<std::size_t>(i)] == (sent ? 7.0f : 0.0f));
  }
}

TEST_CASE("node and local rank follow the blocks of the world") {
  for (int world_size : {1, 2, 3, 5, 8, 17}) {
    for (int nodes = 1; nodes <= world_size; ++nodes) {
      const auto run = run_ranks({.world_size = world_size, .nodes = nodes}, [](Comm& dist) {
        return std::pair(dist.node(), dist.local_rank());
      });
      CAPTURE(world_size);
      CAPTURE(nodes);
      std::vector<int> seen(static_cast<std::size_t>(nodes), 0);
      int last = 0;
      for (const auto& [node, local] : run.results) {
        REQUIRE(node >= last);
        REQUIRE(node < nodes);
        last = node;
        CHECK(local == seen[static_cast<std::size_t>(node)]++);
      }
      for (int ranks : seen) CHECK(ranks >= world_size / nodes);
      CHECK(run.report.trace.nodes.size() == static_cast<std::size_t>(world_size));
    }
  }
}

TEST_CASE("results come back by rank, also where they have no default and cannot be copied") {
  struct Answer {
    explicit Answer(int r) : rank(std::make_unique<int>(r)) {}
    std::unique_ptr<int> rank;
  };
  const auto run = run_ranks({.world_size = 5}, [](Comm& dist) { return Answer(dist.rank()); });
  for (int rank = 0; rank < 5; ++rank)
    CHECK(*run.results[static_cast<std::size_t>(rank)].rank == rank);
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

TEST_CASE("long chains of ranks that sleep, and are woken one by one, are no deadlock") {
  for_each_schedule(10, [&](std::uint64_t seed) {
    const auto run = run_ranks({.world_size = 9, .seed = seed}, [](Comm& dist) {
      Tensor token = full(1, 0.0f);
      for (int lap = 0; lap < 20; ++lap) {
        if (dist.rank() > 0 || lap > 0) dist.recv(token, prev_of(dist));
        token += full(1, 1.0f);
        if (dist.rank() < 8 || lap < 19) dist.send(token, next_of(dist));
      }
      return element(token, 0);
    });
    CHECK(run.results[8] == 180.0f);
  });
}

}  // namespace
}  // namespace rankbox::testing
