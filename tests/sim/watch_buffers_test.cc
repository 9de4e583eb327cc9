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
