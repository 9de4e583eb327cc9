// Buffering modes: when a send may return before its receiver has the data.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

/// The classic mistake: both ranks send first.
void send_first(Comm& dist, std::int64_t count) {
  const Tensor mine = full(count, static_cast<float>(dist.rank()));
  Tensor theirs = zeros(count);
  dist.send(mine, 1 - dist.rank());
  dist.recv(theirs, 1 - dist.rank());
}

TEST_CASE("both send first: passes exactly when messages of that size are buffered") {
  struct Row {
    Buffering buffering;
    std::int64_t count;
    bool passes;
  };
  const Row rows[] = {
      {Buffering::rendezvous(), 0, false},     {Buffering::rendezvous(), 1, false},
      {Buffering::rendezvous(), 1000, false},  {Buffering::eager(0), 0, true},
      {Buffering::eager(0), 1, false},         {Buffering::eager(400), 99, true},
      {Buffering::eager(400), 100, true},      {Buffering::eager(400), 101, false},
      {Buffering::eager(399), 100, false},     {Buffering::unbounded(), 0, true},
      {Buffering::unbounded(), 100'000, true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.count);
    CAPTURE(row.passes);
    const auto seen = observe({.world_size = 2, .buffering = row.buffering},
                              [&](Comm& dist) { send_first(dist, row.count); });
    CHECK((seen.thrown == nullptr) == row.passes);
    if (!row.passes) CHECK(ended_as<DeadlockError>(seen));
  }
}

TEST_CASE("buffered data is a copy: overwriting the tensor after the send does no harm") {
  for (std::int64_t count : {1, 6, 12, 13, 100, 10'000}) {
    for (Buffering buffering : {Buffering::eager(count * 4), Buffering::unbounded()}) {
      const auto run = run_ranks({.world_size = 2, .buffering = buffering}, [&](Comm& dist) {
        Tensor tensor = full(count, 1.0f);
        if (dist.rank() == 0) {
          for (int i = 0; i < 5; ++i) {
            dist.send(tensor, 1);
            tensor += full(count, 1.0f);
          }
          Request last = dist.isend(tensor, 1);
          tensor *= 100.0f;
          dist.wait(last);
          dist.barrier();
          return std::vector<float>{};
        }
        dist.barrier();  // everything was sent and overwritten before any receive
        std::vector<float> received;
        for (int i = 0; i < 6; ++i) {
          dist.recv(tensor, 0);
          received.push_back(element(tensor, count - 1));
        }
        return received;
      });
      CAPTURE(count);
      CHECK(run.results[1] == std::vector<float>{1, 2, 3, 4, 5, 6});
    }
  }
}

TEST_CASE("buffered and waiting messages of one pair keep their order") {
  // Small sends are buffered, large ones are not: a small one must not overtake.
  const auto run = run_ranks({.world_size = 2, .buffering = Buffering::eager(40)}, [](Comm& dist) {
    std::vector<float> received;
    std::vector<Tensor> boxes;
    std::vector<Request> requests;
    for (int i = 0; i < 60; ++i) {
      boxes.push_back(full(i % 3 == 0 ? 11 : 10, static_cast<float>(dist.rank() == 0 ? i : -1)));
    }
    for (Tensor& box : boxes) {
      requests.push_back(dist.rank() == 0 ? dist.isend(box, 1) : dist.irecv(box, 0));
    }
    dist.wait_all(requests);
    for (const Tensor& box : boxes) received.push_back(element(box, 9));
    return received;
  });
  CHECK(run.results[1] == run.results[0]);
}

TEST_CASE("the send half of a sendrecv is buffered as a send is") {
  for (Buffering buffering : {Buffering::rendezvous(), Buffering::eager(7), Buffering::eager(8),
                              Buffering::unbounded()}) {
    const bool buffered = buffering.buffers(8);
    CAPTURE(buffered);
    float received = 0;
    const auto seen = observe({.world_size = 2, .buffering = buffering}, [&](Comm& dist) {
      Tensor out = full(2, 5.0f);
      Tensor in = zeros(2);
      if (dist.rank() == 0) {
        dist.sendrecv(out, 1, in, 1);
        out *= 100.0f;  // the buffered data is a copy
        dist.barrier();
      } else {
        const Request send = dist.isend(out, 0);
        dist.barrier();
        dist.recv(in, 0);
        dist.wait(send);
        received = element(in, 1);
      }
    });
    INFO(what_of(seen.thrown));
    CHECK((seen.thrown == nullptr) == buffered);
    CHECK(ended_as<DeadlockError>(seen) == !buffered);
    if (!buffered) continue;
    CHECK(received == 5.0f);
    CHECK(seen.report.trace.ranks.at(0).at(0).buffered);
  }
}

TEST_CASE("the trace says which sends were buffered") {
  const auto run = run_ranks({.world_size = 2, .buffering = Buffering::eager(8)}, [](Comm& dist) {
    Tensor small = zeros(2);
    Tensor large = zeros(3);
    if (dist.rank() == 0) {
      dist.send(small, 1);
      dist.send(large, 1);
    } else {
      dist.recv(small, 0);
      dist.recv(large, 0);
    }
  });
  const std::vector<Event>& events = run.report.trace.ranks[0];
  REQUIRE(events.size() == 2);
  CHECK(events[0].buffered);
  CHECK_FALSE(events[1].buffered);
}

TEST_CASE("buffering changes no values: a ring of sends and receives") {
  for (Buffering buffering :
       {Buffering::rendezvous(), Buffering::eager(16), Buffering::unbounded()}) {
    for (int world_size : {2, 3, 4, 8}) {
      const auto run =
          run_ranks({.world_size = world_size, .buffering = buffering}, [](Comm& dist) {
            const int p = dist.world_size();
            float sum = 0;
            Tensor tensor = full(5, static_cast<float>(dist.rank()));
            for (int round = 0; round < p; ++round) {
              sum += element(tensor, 4);
              Tensor in = zeros(5);
              const Request receive = dist.irecv(in, prev_of(dist));
              dist.send(tensor, next_of(dist));
              dist.wait(receive);
              tensor = in;
            }
            return sum;
          });
      CHECK(run.results ==
            std::vector<float>(static_cast<std::size_t>(world_size),
                               static_cast<float>(world_size * (world_size - 1) / 2)));
    }
  }
}

}  // namespace
}  // namespace rankbox::testing
