// Blocking messages: correct values at the correct rank, in order, of any size.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/topology.h"
#include "comm/run_ranks.h"
#include "tests/backends/values.h"
#include "tests/backends/worlds.h"

namespace rankbox::testing {
namespace {

// Small counts, and counts on both sides of the limits for short messages: 48 B in the sandbox; 256
// B, 4, 8 and 64 KiB in MPI and others.
constexpr std::int64_t kCounts[] = {0,  1,  2,    3,    6,    7,     12,    13,
                                    64, 65, 1000, 1023, 1025, 8'193, 16'385};
// 128 KiB to 4 MiB. The sums of their halves collide with small sizes, if a backend distinguishes
// sizes by few bits.
constexpr std::int64_t kLargeCounts[] = {32'769, 65'537, 131'074, 1'048'577};

int next_of(const Comm& dist) { return next_rank(dist.rank(), dist.world_size()); }
int prev_of(const Comm& dist) { return prev_rank(dist.rank(), dist.world_size()); }

#define EVERY_DTYPE float, double, std::int32_t, std::int64_t, Float16, BFloat16

TEST_CASE_TEMPLATE("a message handed around the ring arrives everywhere as it was sent", T,
                   EVERY_DTYPE) {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      std::vector<std::int64_t> wrong;
      for (std::int64_t count : kCounts) {
        const std::vector<T> sent = letter<T>(3, 1, count);
        TensorOf<T> tensor = zeros<T>(count);
        if (dist.rank() == 0) {
          dist.send(from_host(sent), next_of(dist));
          dist.recv(tensor, prev_of(dist));
        } else {
          dist.recv(tensor, prev_of(dist));
          dist.send(tensor, next_of(dist));
        }
        if (to_host(tensor) != sent) wrong.push_back(count);
      }
      return wrong;
    });
    CAPTURE(p);
    for (const auto& wrong : run.results) CHECK(wrong.empty());
    std::int64_t elements = 0;
    for (std::int64_t count : kCounts) elements += count;
    CHECK(run.report.messages == p * static_cast<std::int64_t>(std::size(kCounts)));
    CHECK(run.report.bytes == p * elements * static_cast<std::int64_t>(sizeof(T)));
  }
}

TEST_CASE_TEMPLATE("sendrecv exchanges with two neighbours at once, also with oneself", T,
                   EVERY_DTYPE) {
  for (int p : world_sizes()) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      std::vector<std::int64_t> wrong;
      for (std::int64_t count : kCounts) {
        const TensorOf<T> out = from_host(letter<T>(dist.rank(), 2, count));
        TensorOf<T> in = zeros<T>(count);
        dist.sendrecv(out, next_of(dist), in, prev_of(dist));
        if (to_host(in) != letter<T>(prev_of(dist), 2, count)) wrong.push_back(count);
        dist.sendrecv(out, prev_of(dist), in, next_of(dist));
        if (to_host(in) != letter<T>(next_of(dist), 2, count)) wrong.push_back(-count);
      }
      return wrong;
    });
    CAPTURE(p);
    for (const auto& wrong : run.results) CHECK(wrong.empty());
  }
}

TEST_CASE("large messages travel around the ring, one after the other and both ways at once") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      std::vector<std::int64_t> wrong;
      for (std::int64_t count : kLargeCounts) {
        const std::vector<float> sent = letter<float>(1, 0, count);
        Tensor tensor = dist.rank() == 0 ? from_host(sent) : zeros(count);
        Tensor back = zeros(count);
        if (dist.rank() > 0) dist.recv(tensor, prev_of(dist));
        dist.send(tensor, next_of(dist));
        if (dist.rank() == 0) dist.recv(tensor, prev_of(dist));
        dist.sendrecv(tensor, prev_of(dist), back, next_of(dist));
        if (to_host(back) != sent) wrong.push_back(count);
      }
      return wrong;
    });
    CAPTURE(p);
    for (const auto& wrong : run.results) CHECK(wrong.empty());
  }
}

TEST_CASE("the two halves of a sendrecv may differ in size and dtype") {
  for (int p : world_sizes(2)) {
    for (std::int64_t count : {7, 70'000}) {
      const auto run = run_ranks(world(p), [&](Comm& dist) {
        std::vector<double> got;
        if (dist.rank() == 0) {
          TensorOf<double> in = zeros<double>(3);
          dist.sendrecv(full(count, 1.5f), 1, in, 1);
          got = to_host(in);
        } else if (dist.rank() == 1) {
          Tensor in = zeros(count);
          dist.sendrecv(full<double>(3, 2.5), 0, in, 0);
          got = {to_host(in).front(), to_host(in).back()};
        }
        return got;
      });
      CHECK(run.results[0] == std::vector<double>{2.5, 2.5, 2.5});
      CHECK(run.results[1] == std::vector<double>{1.5, 1.5});
    }
  }
}

TEST_CASE("a sendrecv matches a plain send and a plain receive") {
  for (int p : world_sizes(3)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      Tensor in = full(4, -1.0f);
      const Tensor out = full(4, static_cast<float>(dist.rank()));
      if (dist.rank() == 0) dist.sendrecv(out, 1, in, 2);
      if (dist.rank() == 1) dist.recv(in, 0);
      if (dist.rank() == 2) dist.send(out, 0);
      return to_host(in)[3];
    });
    CHECK(run.results[0] == 2);
    CHECK(run.results[1] == 0);
    CHECK(run.results[2] == -1);
  }
}

TEST_CASE("the sizes of a row of messages between two ranks go up and down, and keep their order") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      const int rounds = 60;
      int wrong = 0;
      for (int i = 0; i < rounds; ++i) {
        const std::int64_t count = kCounts[static_cast<std::size_t>(i * 7) % std::size(kCounts)];
        Tensor box = zeros(count);
        if (dist.rank() == 0) dist.send(from_host(letter<float>(0, i, count)), 1);
        if (dist.rank() != 1) continue;
        dist.recv(box, 0);
        wrong += to_host(box) != letter<float>(0, i, count);
      }
      return wrong;
    });
    CHECK(run.results[1] == 0);
  }
}

TEST_CASE("a receiver takes from its sources in any order") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      constexpr int kRounds = 10;
      const int others = dist.world_size() - 1;
      int wrong = 0;
      for (int round = 0; round < kRounds; ++round) {
        const std::int64_t count = round % 3 == 2 ? 40'000 : 5;
        if (dist.rank() > 0) {
          dist.send(from_host(letter<float>(dist.rank(), round, count)), 0);
          continue;
        }
        for (int k = 0; k < others; ++k) {
          const int src = 1 + (round % 2 == 0 ? k + round : others * 20 - k + round) % others;
          Tensor box = zeros(count);
          dist.recv(box, src);
          wrong += to_host(box) != letter<float>(src, round, count);
        }
      }
      return wrong;
    });
    CAPTURE(p);
    CHECK(run.results[0] == 0);
  }
}

TEST_CASE("only the slice is written, not its neighbours") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      Tensor tensor = full(100, dist.rank() == 0 ? 7.0f : 0.0f);
      for (int part = 0; part < 9; part += 2) {
        if (dist.rank() == 0) dist.send(chunk(tensor, part, 9), 1);
        if (dist.rank() == 1) dist.recv(chunk(tensor, part, 9), 0);
      }
      return to_host(tensor);
    });
    for (std::int64_t i = 0; i < 100; ++i) {
      bool sent = false;
      for (std::int64_t part = 0; part < 9; part += 2)
        sent = sent || (i >= part * 100 / 9 && i < (part + 1) * 100 / 9);
      CAPTURE(i);
      CHECK(run.results[1][static_cast<std::size_t>(i)] == (sent ? 7.0f : 0.0f));
    }
  }
}

TEST_CASE("a tensor that was received is sent on, reduced, and sent again") {
  // Arithmetic must see what arrived, and a send must see the arithmetic's result.
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      Tensor sum = full(50'000, static_cast<float>(dist.rank() + 1));
      Tensor passing = clone(sum);
      for (int step = 1; step < dist.world_size(); ++step) {
        Tensor in = zeros(50'000);
        dist.sendrecv(passing, next_of(dist), in, prev_of(dist));
        sum += in;
        passing = in;
      }
      const std::vector<float> host = to_host(sum);
      return std::vector<float>{host.front(), host[25'000], host.back()};
    });
    const auto expected = static_cast<float>(p * (p + 1) / 2);
    for (const auto& result : run.results) CHECK(result == std::vector<float>(3, expected));
  }
}

TEST_CASE("a thousand small messages there and back") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      TensorOf<std::int64_t> ball = full<std::int64_t>(1, 0);
      for (int i = 0; i < 1000 && dist.rank() < 2; ++i) {
        const int partner = 1 - dist.rank();
        if (dist.rank() == 1) dist.recv(ball, partner);
        ball += full<std::int64_t>(1, 1);
        dist.send(ball, partner);
        if (dist.rank() == 0) dist.recv(ball, partner);
      }
      return to_host(ball)[0];
    });
    CHECK(run.results[0] == 2000);
  }
}

}  // namespace
}  // namespace rankbox::testing
