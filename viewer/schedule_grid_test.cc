#include "viewer/schedule_grid.h"

#include <doctest/doctest.h>

#include "comm/run_ranks.h"

namespace rankbox {
namespace {

/// One micro-batch down two ranks and back up, backward twice as long.
Trace there_and_back() {
  return run_ranks({.world_size = 2},
                   [](Comm& dist) {
                     Tensor tensor = zeros(1);
                     if (dist.rank() == 0) {
                       dist.compute(1e-6, "F0");
                       dist.send(tensor, 1);
                       dist.recv(tensor, 1);
                       dist.compute(2e-6, "B0");
                     } else {
                       dist.recv(tensor, 0);
                       dist.compute(1e-6, "F0");
                       dist.compute(2e-6, "B0");
                       dist.send(tensor, 0);
                     }
                   })
      .report.trace;
}

Replay without_messages(const Trace& trace) {
  Cluster free;
  free.within_node = free.between_nodes = {0, 0};
  return replay_trace(trace, free);
}

TEST_CASE("a slot is a forward pass, a backward pass takes two, and dots are idle") {
  const Trace trace = there_and_back();
  CHECK(draw_schedule(trace, without_messages(trace)) ==
        "rank 0  F0 ·  ·  ·  B0───\n"
        "rank 1  ·  F0 B0─── ·  ·\n");
  CHECK(draw_schedule(trace, without_messages(trace), {.ascii = true}) ==
        "rank 0  F0 .  .  .  B0---\n"
        "rank 1  .  F0 B0--- .  .\n");
}

TEST_CASE("half of the time is idle, as (p-1)/(m+p-1) says") {
  const Trace trace = there_and_back();
  CHECK(unlabelled_share(trace, without_messages(trace)) == doctest::Approx(0.5).epsilon(1e-12));
}

TEST_CASE("with colour, each kind of pass has its own, and no text differs") {
  const Trace trace = there_and_back();
  const Trace weights =
      run_ranks({.world_size = 1}, [](Comm& dist) { dist.compute(1e-6, "W0"); }).report.trace;
  CHECK(draw_schedule(weights, without_messages(weights), {.colour = true}) ==
        "rank 0  \033[32mW0\033[0m\n");
  const std::string picture = draw_schedule(trace, without_messages(trace), {.colour = true});
  CHECK(picture.find("\033[36mF0\033[0m") != std::string::npos);
  CHECK(picture.find("\033[33mB0───\033[0m") != std::string::npos);
  CHECK(draw_schedule(trace, without_messages(trace)).find('\033') == std::string::npos);
}

TEST_CASE("a wide grid first loses its gaps, then its end, with a note") {
  const Trace trace = there_and_back();
  CHECK(draw_schedule(trace, without_messages(trace), {.columns = 26, .ascii = true}) ==
        "rank 0  F0. . . B0-\n"
        "rank 1  . F0B0- . .\n");
  CHECK(draw_schedule(trace, without_messages(trace), {.columns = 18, .ascii = true}) ==
        "rank 0  F0. . ...\n"
        "rank 1  . F0B0 ...\n");
}

TEST_CASE("there is a schedule only with the labels of a pipeline") {
  const auto trace_of = [](Label label) {
    return run_ranks({.world_size = 1}, [=](Comm& dist) { dist.compute(1, label); }).report.trace;
  };
  for (const char* const label : {"", "work", "F", "Fast", "F0xy", "step 1", "A0"}) {
    CAPTURE(label);
    CHECK_FALSE(has_schedule(trace_of(label)));
  }
  for (const char* const label : {"F0", "B12", "W3", "F0b"}) {
    CAPTURE(label);
    CHECK(has_schedule(trace_of(label)));
  }
}

}  // namespace
}  // namespace rankbox
