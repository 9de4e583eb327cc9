// The buffering option: when a send may return before its receiver has the data.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/topology.h"
#include "comm/run_ranks.h"
#include "tests/backends/values.h"
#include "tests/backends/worlds.h"

namespace rankbox::testing {
namespace {

RunOptions buffered(RunOptions options, Buffering buffering) {
  options.buffering = buffering;
  return options;
}

TEST_CASE("both send first: passes exactly when messages of that size are buffered") {
  struct Row {
    Buffering buffering;
    std::int64_t count;
    bool passes;
  };
  const Row rows[] = {
      {Buffering::rendezvous(), 0, false},      {Buffering::rendezvous(), 1, false},
      {Buffering::rendezvous(), 50'000, false}, {Buffering::eager(0), 0, true},
      {Buffering::eager(0), 1, false},          {Buffering::eager(400), 100, true},
      {Buffering::eager(400), 101, false},      {Buffering::eager(399), 100, false},
      {Buffering::unbounded(), 0, true},        {Buffering::unbounded(), 300'000, true},
  };
  for (int p : worlds_that_buffer(2)) {
    for (const Row& row : rows) {
      if (kFailureEndsJob && !row.passes) continue;
      CAPTURE(row.count);
      CAPTURE(row.passes);
      const Observation seen =
          observe(buffered(row.passes ? world(p) : stuck_world(p), row.buffering), [&](Comm& dist) {
            if (dist.rank() > 1) return;
            const Tensor mine = full(row.count, static_cast<float>(dist.rank()));
            Tensor theirs = zeros(row.count);
            dist.send(mine, 1 - dist.rank());
            dist.recv(theirs, 1 - dist.rank());
          });
      if (row.passes) {
        INFO(what_of(seen.thrown));
        CHECK(seen.thrown == nullptr);
      } else {
        check_stuck(seen);
      }
    }
  }
}

TEST_CASE("buffered data is a copy: overwriting the tensor after the send does no harm") {
  for (int p : worlds_that_buffer(2)) {
    for (std::int64_t count : {1, 12, 13, 100, 10'000, 200'000}) {
      for (Buffering buffering : {Buffering::eager(count * 4), Buffering::unbounded()}) {
        const auto run = run_ranks(buffered(world(p), buffering), [&](Comm& dist) {
          std::vector<float> received;
          Tensor tensor = full(count, 1.0f);
          if (dist.rank() == 0) {
            for (int i = 0; i < 5; ++i) {
              dist.send(tensor, 1);
              tensor += full(count, 1.0f);
            }
            const Request last = dist.isend(tensor, 1);
            dist.wait(last);  // at once: rank 1 receives it later
            tensor *= 100.0f;
          }
          dist.barrier();  // everything was sent, and overwritten, before any receive
          for (int i = 0; i < 6 && dist.rank() == 1; ++i) {
            dist.recv(tensor, 0);
            received.push_back(to_host(tensor).back());
          }
          return received;
        });
        CAPTURE(count);
        CHECK(run.results[1] == std::vector<float>{1, 2, 3, 4, 5, 6});
      }
    }
  }
}

TEST_CASE("buffered and waiting messages of one pair keep their order") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(buffered(world(p), Buffering::eager(40)), [](Comm& dist) {
      std::vector<float> received;
      if (dist.rank() > 1) return received;
      std::vector<Tensor> boxes;
      std::vector<Request> requests;
      for (int i = 0; i < 60; ++i)
        boxes.push_back(full(i % 3 == 0 ? 11 : 10, static_cast<float>(dist.rank() == 0 ? i : -1)));
      for (Tensor& box : boxes)
        requests.push_back(dist.rank() == 0 ? dist.isend(box, 1) : dist.irecv(box, 0));
      dist.wait_all(requests);
      for (const Tensor& box : boxes) received.push_back(to_host(box)[9]);
      return received;
    });
    CHECK(run.results[1] == run.results[0]);
  }
}

TEST_CASE("the send half of a sendrecv is buffered as a send is") {
  for (int p : worlds_that_buffer(2)) {
    for (Buffering buffering : {Buffering::rendezvous(), Buffering::eager(7), Buffering::eager(8),
                                Buffering::unbounded()}) {
      const bool passes = buffering.buffers(8);
      if (kFailureEndsJob && !passes) continue;
      CAPTURE(p);
      CAPTURE(passes);
      const RunOptions options = buffered(passes ? world(p) : stuck_world(p), buffering);
      const Observation seen = observe(options, [](Comm& dist, std::string& note) {
        Tensor in = zeros(2);
        Tensor out = full(2, 5.0f + static_cast<float>(dist.rank()));
        Request send;
        if (dist.rank() == 0) {
          dist.sendrecv(out, 1, in, 1);
          out *= 100.0f;  // a buffered message is a copy
        }
        if (dist.rank() == 1) send = dist.isend(out, 0);
        dist.barrier();
        if (dist.rank() > 1) return;
        if (dist.rank() == 1) dist.recv(in, 0);
        if (dist.rank() == 1) dist.wait(send);
        note = std::to_string(to_host(in)[1]);
      });
      if (!passes) {
        check_stuck(seen);
        continue;
      }
      INFO(what_of(seen.thrown));
      CHECK(seen.thrown == nullptr);
      CHECK(seen.notes[0] == std::to_string(6.0f));
      CHECK(seen.notes[1] == std::to_string(5.0f));
    }
  }
}

TEST_CASE("buffering changes no values: a ring of sends and receives") {
  for (int p : world_sizes(2)) {
    for (Buffering buffering :
         {Buffering::rendezvous(), Buffering::eager(16), Buffering::unbounded()}) {
      const auto run = run_ranks(buffered(world(p), buffering), [&](Comm& dist) {
        float sum = 0;
        Tensor tensor = full(5, static_cast<float>(dist.rank()));
        for (int round = 0; round < p; ++round) {
          sum += to_host(tensor)[4];
          Tensor in = zeros(5);
          const Request receive = dist.irecv(in, prev_rank(dist.rank(), p));
          dist.send(tensor, next_rank(dist.rank(), p));
          dist.wait(receive);
          tensor = in;
        }
        return sum;
      });
      for (float sum : run.results) CHECK(sum == static_cast<float>(p * (p - 1) / 2));
    }
  }
}

TEST_CASE("a rank may send to itself what is buffered, and receive it later") {
  for (int p : worlds_that_buffer()) {
    const auto run = run_ranks(buffered(world(p), Buffering::unbounded()), [](Comm& dist) {
      Tensor in = zeros(9);
      dist.send(full(9, static_cast<float>(dist.rank() + 1)), dist.rank());
      dist.recv(in, dist.rank());
      return to_host(in)[8];
    });
    for (int rank = 0; rank < p; ++rank)
      CHECK(run.results[static_cast<std::size_t>(rank)] == static_cast<float>(rank + 1));
  }
}

}  // namespace
}  // namespace rankbox::testing
