// RunOptions::watch_buffers: every change to a buffer in flight is detected.
#include <atomic>
#include <cmath>
#include <functional>
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

TEST_CASE("a tensor written in flight is the cause of the exception that its data led to") {
  constexpr float kSpoilt = 2;
  // Who throws: the receiver of the wrong data, or the writer itself; or the function is a stub.
  for (const int thrower : {0, 1, -1}) {
    for (const bool writes : {false, true}) {
      for_each_schedule(4, [&](std::uint64_t seed) {
        int line = 0;
        const Observation seen =
            observe({.world_size = 2, .seed = seed, .watch_buffers = true}, [&](Comm& dist) {
              Tensor tensor = full(3, 1.0f);
              Tensor received = zeros(3);
              if (dist.rank() == 1) {
                dist.recv(received, 0);
                dist.barrier();
                if (thrower < 0) throw NotImplemented("f");
                if (thrower == 1) throw InvalidArgument("wrong data");
                return dist.recv(received, 0);
              }
              line = __LINE__ + 1;
              const Comm::Request request = dist.isend(tensor, 1);
              dist.barrier();
              if (writes) tensor.data()[2] = kSpoilt;
              if (thrower == 0) throw InvalidArgument("wrong data");
              dist.recv(received, 1);
              dist.wait(request);
            });
        INFO(what_of(seen.thrown));
        CHECK(ended_as<NotImplemented>(seen) == (thrower < 0));
        if (thrower < 0) return;
        CHECK(ended_as<BufferReused>(seen) == writes);
        if (!writes) return;
        const auto error = require_error<BufferReused>(seen);
        CHECK(error.rank() == 0);
        CHECK(error.peer() == 1);
        CHECK(error.line() == line);
      });
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

/// Starts the collective on every rank, calls touch() on it, and waits.
Observation touch_in_flight(int world_size,
                            const std::function<Comm::Request(Comm&, Tensor&)>& start,
                            const std::function<void(Comm&, Tensor&)>& touch) {
  return observe({.world_size = world_size, .watch_buffers = true}, [&](Comm& dist) {
    Tensor tensor = full(4, 1.0f);
    const Comm::Request request = start(dist, tensor);
    touch(dist, tensor);
    dist.wait(request);
  });
}

TEST_CASE("a tensor written in an async collective or an irecv is found, where that is asked for") {
  using Start = std::function<Comm::Request(Comm&, Tensor&)>;
  std::atomic<int> line = 0;  // both ranks set it
  const std::vector<Start> starts = {
    [&](Comm& d, Tensor& t) { return line = __LINE__, d.all_reduce_async(t); },
#if !defined(__SANITIZE_THREAD__)  // other ranks read what is written here: a race on purpose
    [&](Comm& d, Tensor& t) { return line = __LINE__, d.broadcast_async(t, 1); },
    [&](Comm& d, Tensor& t) { return line = __LINE__, d.reduce_async(t, 0); },
    [&](Comm& d, Tensor& t) {
      return line = __LINE__, d.all_gather_async(chunk(t, d.rank(), 2), t);
    },
#endif
  };
  for (const Start& start : starts) {
    for (const int writer : {-1, 0, 1}) {
      const Observation seen = touch_in_flight(2, start, [&](Comm& dist, Tensor& tensor) {
        if (dist.rank() == writer) tensor.data()[2] = 7.0f;
      });
      INFO(what_of(seen.thrown));
      CHECK(ended_as<BufferReused>(seen) == (writer >= 0));
      if (writer < 0) continue;
      CHECK(require_error<BufferReused>(seen).rank() == writer);
      CHECK(require_error<BufferReused>(seen).line() == line.load());
    }
  }
  const Observation seen = observe({.world_size = 2, .watch_buffers = true}, [&](Comm& dist) {
    Tensor tensor = full(4, 1.0f);
    if (dist.rank() == 0) return dist.send(tensor, 1);
    line = __LINE__ + 1;
    const Comm::Request request = dist.irecv(tensor, 0);
    tensor.data()[0] = 7.0f;
    dist.wait(request);
  });
  CHECK(require_error<BufferReused>(seen).line() == line.load());
}

TEST_CASE("async collectives have their results, in place and not, where buffers are watched") {
  const auto run = run_ranks({.world_size = 3, .watch_buffers = true}, [](Comm& dist) {
    const int p = dist.world_size(), r = dist.rank();
    const auto mine = static_cast<float>(r + 1);
    std::vector<float> sums;
    const auto sum_after = [&](const Comm::Request& request, const Tensor& tensor) {
      dist.wait(request);
      sums.push_back(to_host(tensor)[0] + to_host(tensor).back());
    };
    Tensor one = full(2, mine), all = full(2 * p, mine), other = zeros(2 * p);
    sum_after(dist.all_reduce_async(one), one);                    // 6 + 6
    sum_after(dist.broadcast_async(one, 1), one);                  // 6 + 6
    sum_after(dist.all_gather_async(chunk(all, r, p), all), all);  // 1 + 3
    sum_after(dist.reduce_scatter_async(all, chunk(all, r, p)), all);
    sum_after(dist.all_to_all_async(all, other), other);
    sum_after(dist.gather_async(chunk(all, r, p), all, 2), all);
    sum_after(dist.scatter_async(all, chunk(all, r, p), 2), all);
    sum_after(dist.reduce_async(one, 0, ReduceOp::MAX), one);
    return sums;
  });
  const auto unwatched = run_ranks({.world_size = 3}, [](Comm& dist) {
    const int p = dist.world_size(), r = dist.rank();
    const auto mine = static_cast<float>(r + 1);
    std::vector<float> sums;
    const auto note = [&](const Tensor& tensor) {
      sums.push_back(to_host(tensor)[0] + to_host(tensor).back());
    };
    Tensor one = full(2, mine), all = full(2 * p, mine), other = zeros(2 * p);
    dist.all_reduce(one), note(one);
    dist.broadcast(one, 1), note(one);
    dist.all_gather(chunk(all, r, p), all), note(all);
    dist.reduce_scatter(all, chunk(all, r, p)), note(all);
    dist.all_to_all(all, other), note(other);
    dist.gather(chunk(all, r, p), all, 2), note(all);
    dist.scatter(all, chunk(all, r, p), 2), note(all);
    dist.reduce(one, 0, ReduceOp::MAX), note(one);
    return sums;
  });
  CHECK(run.results == unwatched.results);
  CHECK(run.results[1][0] == 12.0f);
  CHECK(run.results[1][2] == 4.0f);
}

}  // namespace
}  // namespace rankbox::testing
