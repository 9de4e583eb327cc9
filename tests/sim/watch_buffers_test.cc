// RunOptions::watch_buffers: every change to a buffer in flight is detected.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

TEST_CASE("a tensor written before its isend was waited for is found, where that is asked for") {
  for (Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
    for (const bool writes : {false, true}) {
      int line = 0;
      const Observation seen = observe(
          {.world_size = 2, .buffering = buffering, .watch_buffers = true}, [&](Comm& dist) {
            Tensor tensor = full(3, 1.0f);
            if (dist.rank() == 1) {
              dist.recv(tensor, 0);
              return dist.barrier();
            }
            line = __LINE__ + 1;
            const Comm::Request request = dist.isend(tensor, 1);
            dist.barrier();  // received by now: even then it is wrong, and no race in this test
            if (writes) tensor.data()[2] = 2.0f;
            dist.wait(request);
          });
      const auto error = error_as<BufferReused>(seen.thrown);
      INFO(what_of(seen.thrown));
      CHECK(error.has_value() == writes);
      if (!error) continue;
      CHECK(error->rank() == 0);
      CHECK(error->peer() == 1);
      CHECK(error->line() == line);
    }
  }
}

/// Starts an operation on a tensor of 4 elements, on both of two ranks.
struct Start {
  const char* name;
  bool writes;  // rank 1's tensor
  Comm::Request (*start)(Comm& dist, Tensor& tensor);
};

const Start kStarts[] = {
    {"irecv", true,
     [](Comm& d, Tensor& t) { return d.rank() == 1 ? d.irecv(t, 0) : d.isend(t, 1); }},
    {"isend", false,
     [](Comm& d, Tensor& t) { return d.rank() == 1 ? d.isend(t, 0) : d.irecv(t, 1); }},
    {"broadcast_async", true, [](Comm& d, Tensor& t) { return d.broadcast_async(t, 0); }},
    {"all_reduce_async", true, [](Comm& d, Tensor& t) { return d.all_reduce_async(t); }},
};

/// Reads the second half of the tensor, or writes to it, in its only line.
struct Touch {
  const char* name;
  bool writes;
  void (*touch)(Tensor& tensor, Tensor& other, int& line);
};

const Touch kTouches[] = {
    {"accumulate", false,
     [](Tensor& t, Tensor& o, int& line) {
       line = __LINE__ + 1;
       accumulate(chunk(o, 1, 2), chunk(t, 1, 2), ReduceOp::SUM);
     }},
    {"copy", false,
     [](Tensor& t, Tensor& o, int& line) {
       line = __LINE__ + 1;
       copy(chunk(o, 1, 2), chunk(t, 1, 2));
     }},
    {"copy", false,
     [](Tensor& t, Tensor& o, int& line) {
       line = __LINE__ + 1;
       o = clone(t);
     }},
    {"to_host", false,
     [](Tensor& t, Tensor&, int& line) {
       line = __LINE__ + 1;
       to_host(t);
     }},
    {"copy", true,
     [](Tensor& t, Tensor& o, int& line) {
       line = __LINE__ + 1;
       copy(chunk(t, 1, 2), chunk(o, 1, 2));
     }},
    {"*=", true,
     [](Tensor& t, Tensor&, int& line) {
       line = __LINE__ + 1;
       t *= 2.0f;
     }},
};

TEST_CASE("a call that touches a buffer in flight fails, with both lines") {
  for (const Start& row : kStarts) {
    for (const Touch& touch : kTouches) {
      CAPTURE(row.name);
      CAPTURE(touch.name);
      CAPTURE(touch.writes);
      int line = 0;
      const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
        Tensor tensor = full(4, 1.0f);
        Tensor other = full(4, 2.0f);
        const Comm::Request request = row.start(dist, tensor);
        if (dist.rank() == 1) touch.touch(tensor, other, line);
        dist.wait(request);
      });
      const auto error = error_as<BufferReused>(seen.thrown);
      CHECK(error.has_value() == (row.writes || touch.writes));
      if (!error) continue;
      CHECK(error->rank() == 1);
      CHECK(error->op() == touch.name);
      CHECK(error->line() == line);
      CHECK(contains(error->what(), row.name));
    }
  }
}

TEST_CASE("halves of a tensor that are not in flight may be used") {
  const auto run = run_ranks({.world_size = 2, .watch_buffers = true}, [](Comm& dist) {
    Tensor tensor = full(4, 1.0f);
    const Slice half = chunk(tensor, 0, 2);
    const Comm::Request request = dist.rank() == 0 ? dist.isend(half, 1) : dist.irecv(half, 0);
    accumulate(chunk(tensor, 1, 2), chunk(tensor, 1, 2), ReduceOp::SUM);
    dist.wait(request);
    return to_host(tensor);
  });
  CHECK(run.results[1] == std::vector<float>{1, 1, 2, 2});
}

TEST_CASE("what an async collective writes shows NaN until it was waited for, also in place") {
  for (const bool in_place : {false, true}) {
    const auto run = run_ranks({.world_size = 2, .watch_buffers = true}, [&](Comm& dist) {
      Tensor all = full(4, -1.0f);
      Tensor mine = full(2, 1.0f + static_cast<float>(dist.rank()));
      const Slice own = chunk(all, dist.rank(), 2);
      copy(own, mine);
      const Comm::Request gathered = dist.all_gather_async(in_place ? own : Slice(mine), all);
      std::vector<float> seen = {all.data()[0], all.data()[3]};
      dist.wait(gathered);
      const Comm::Request reduced = dist.all_reduce_async(all);
      seen.push_back(all.data()[1]);
      dist.wait(reduced);
      for (const float value : to_host(all)) seen.push_back(value);
      return seen;
    });
    for (const std::vector<float>& seen : run.results) {
      for (const int early : {0, 1, 2}) CHECK(std::isnan(seen[static_cast<std::size_t>(early)]));
      CHECK(std::vector<float>(seen.begin() + 3, seen.end()) == std::vector<float>{2, 2, 4, 4});
    }
  }
}

TEST_CASE(
    "what irecv was given is nothing to go by until it was waited for, where that is asked for") {
  for (const bool watch : {false, true}) {
    const auto run = run_ranks({.world_size = 2, .watch_buffers = watch}, [](Comm& dist) {
      Tensor tensor = full(2, 1.0f);
      std::vector<float> seen;
      if (dist.rank() == 0) {
        dist.send(full(2, 5.0f), 1);
      } else {
        const Comm::Request request = dist.irecv(tensor, 0);
        dist.barrier();  // 0 has sent by now
        seen.push_back(tensor.data()[1]);
        dist.wait(request);
        seen.push_back(tensor.data()[1]);
      }
      if (dist.rank() == 0) dist.barrier();
      return seen;
    });
    const std::vector<float>& seen = run.results[1];
    CHECK(std::isnan(seen[0]) == watch);
    if (!watch) CHECK(seen[0] == 5.0f);
    CHECK(seen[1] == 5.0f);
  }
}

}  // namespace
}  // namespace rankbox::testing
