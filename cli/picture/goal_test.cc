// GOAL schedules: a run survives the way there and back, and mistakes are one line.
#include "cli/picture/goal.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "sim/clock/clock.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

double seconds_of(const Trace& trace, const Cluster& cluster) {
  double last = 0;
  for (const Clock& rank : measure_clocks(trace, cluster)) last = std::max(last, rank.seconds);
  return last;
}

TEST_CASE("a run written as a schedule takes the same time when it is read") {
  using Program = void (*)(Comm & dist, Tensor & out, Tensor & in, int next, int prev);
  const Program programs[] = {
      [](Comm& dist, Tensor& out, Tensor&, int next, int prev) {
        if (dist.rank() > 0) dist.recv(out, prev);
        if (dist.rank() + 1 < dist.world_size()) dist.send(out, next);
      },
      [](Comm& dist, Tensor& out, Tensor& in, int next, int prev) {
        for (int i = 0; i < 3; ++i) dist.sendrecv(out, next, in, prev);
      },
      [](Comm& dist, Tensor& out, Tensor& in, int next, int prev) {
        const Comm::Request received = dist.irecv(in, prev);
        dist.compute(5e-6);
        const Comm::Request sent = dist.isend(out, next);
        dist.compute(2e-6 * dist.rank());
        dist.wait(sent);
        dist.wait(received);
        dist.sendrecv(in, next, out, prev);
      },
      [](Comm& dist, Tensor& out, Tensor& in, int next, int prev) {
        dist.sendrecv(out, next, in, prev);
        accumulate(out, in, ReduceOp::SUM);
        dist.sendrecv(out, next, in, prev);
      },
  };
  for (std::size_t i = 0; i < std::size(programs); ++i) {
    CAPTURE(i);
    Cluster cluster;
    cluster.gamma = 1e-9;  // 4000 bytes take whole nanoseconds
    cluster.call = 0.1e-6;
    RunOptions options{.world_size = 6, .cluster = cluster};
    const RunReport report =
        run_ranks(options, [&](Comm& dist) {
          Tensor out = zeros(1000);
          Tensor in = zeros(1000);
          const int p = dist.world_size();
          programs[i](dist, out, in, (dist.rank() + 1) % p, (dist.rank() + p - 1) % p);
        }).report;
    std::ostringstream text;
    write_goal(text, report.trace, cluster.gamma);
    const Trace read = read_goal(text.str(), "run.goal");
    INFO(text.str());
    REQUIRE(read.ranks.size() == 6);
    CHECK(seconds_of(read, cluster) == doctest::Approx(report.virtual_seconds));
  }
}

TEST_CASE("communicators have tags, and other native collectives are refused") {
  const auto goal_of = [](const std::function<void(Comm&)>& body) {
    std::ostringstream text;
    write_goal(text, run_ranks({.world_size = 4}, body).report.trace, 0);
    return text.str();
  };
  const std::string halves = goal_of([](Comm& dist) {
    Comm half = dist.split(dist.rank() % 2);
    Tensor out = zeros(4), in = zeros(4);
    half.sendrecv(out, 1 - half.rank(), in, 1 - half.rank());
  });
  for (const char* tag : {"tag 1", "tag 2"}) CHECK(testing::contains(halves, tag));
  CHECK(read_goal(halves, "halves.goal").ranks.size() == 4);
  CHECK_THROWS_AS(goal_of([](Comm& dist) { dist.barrier(); }), InvalidArgument);
}

TEST_CASE("a long loop of started messages has a schedule as long as the loop") {
  std::ostringstream text;
  const RunReport report = run_ranks({.world_size = 2}, [](Comm& dist) {
                             Tensor out = zeros(1), in = zeros(1);
                             const int other = 1 - dist.rank();
                             for (int i = 0; i < 100; ++i)
                               dist.wait_all({dist.irecv(in, other), dist.isend(out, other)});
                           }).report;
  write_goal(text, report.trace, 0);
  const std::string written = text.str();
  CHECK(std::ranges::count(written, '\n') < 2 * 100 * 2 * 4);
}

TEST_CASE("ranks start whatever is ready, in the order of no line") {
  // Rank 0 receives from 1 only after it has sent to 1 what it gets from 2.
  const Trace trace = read_goal(
      "num_ranks 3\n"
      "rank 0 {\n"
      "  a: recv 8b from 1  // comments go\n"
      "  b: calc 1000\n  b requires a\n"
      "  c: recv 9b from 2 tag 7\n"
      "  d: send 9b to 1 cpu 0 nic 1\n  d requires c\n"
      "}\n"
      "rank 1 {\n  x: recv 9b from 0\n  y: send 8b to 0\n  y requires x\n}\n"
      "rank 2 {\n  z: send 9b to 0 tag 7\n}\n",
      "odd.goal");
  Cluster cluster;
  cluster.within_node = {1e-6, 0};
  CHECK(seconds_of(trace, cluster) == doctest::Approx(4e-6));
}

TEST_CASE("a mistake in a schedule is one line with its place") {
  struct Row {
    const char* text;
    const char* says;
  };
  const Row rows[] = {
      {"", "num_ranks"},
      {"int main() {}", "1: "},
      {"num_ranks 2\nrank 0 {\n  a: send 8b to 1\n", "brace"},
      {"num_ranks 2\nrank 0 {\n  a: send 8b to 1\n  a requires b\n}\n", "4: rank 0 has no label b"},
      {"num_ranks 2\nrank 0 {\n  a: send 8b to 2\n}\n", "3: \"2\""},
      {"num_ranks 2\nrank 0 {\n  a: send 8 to 1\n}\n", "3: \"8\""},
      {"num_ranks 2\nrank 0 {\n  a: send 8b to 1 tg 2\n}\n", "tg"},
      {"num_ranks 2\nrank 0 {\n  a: calc 8\n  a: calc 9\n}\n", "4: label a"},
      {"num_ranks 2\nrank 1 {\n}\n", "rank 0 is missing"},
      {"num_ranks 2\nrank 0 {\n}\nrank 1 {\n  a: recv 8b from 0\n}\n",
       "5: rank 1's recv from rank 0 is unmatched"},
      {"num_ranks 2\nrank 0 {\n  a: send 8b to 1\n}\nrank 1 {\n  a: recv 9b from 0\n}\n",
       "9 bytes"},
      {"num_ranks 1\nrank 0 {\n  a: calc 1\n  b: calc 1\n  a requires b\n  b requires a\n}\n",
       "circle"},
      {"num_ranks 2\nrank 0 {\n  a: recv 8b from 1\n  b: send 8b to 1\n  b requires a\n}\n"
       "rank 1 {\n  a: recv 8b from 0\n  b: send 8b to 0\n  b requires a\n}\n",
       "3: rank 0's recv from rank 1 never ends"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    try {
      read_goal(row.text, "bad.goal");
      FAIL("accepted");
    } catch (const InvalidArgument& error) {
      const std::string message = error.what();
      CAPTURE(message);
      CHECK(message.starts_with("bad.goal:"));
      CHECK(testing::contains(message, row.says));
      CHECK(message.find('\n') == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace rankbox::cli
