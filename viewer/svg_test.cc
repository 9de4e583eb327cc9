// The animated pictures, as XML and as what they show.
#include <functional>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "comm/run_ranks.h"
#include "viewer/held_svg.h"
#include "viewer/schedule_svg.h"

namespace rankbox {
namespace {

std::string svg_of(int ranks, const std::function<void(Comm&)>& body) {
  std::string failure;
  RunReport report;
  RunOptions how;
  how.world_size = ranks;
  how.memory_notes = 10'000;
  try {
    run_world(how, body, &report);
  } catch (const DeadlockError& error) {
    failure = error.what();
  }
  std::ostringstream out;
  write_held_svg(out, "pieces & <ranks>", failure, report.trace,
                 replay_trace(report.trace, Cluster{}));
  return out.str();
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

void all_gather_ring(Comm& dist) {
  const int p = dist.world_size();
  Tensor all = full(2 * p, 1.0F);
  for (int round = 0; round < p - 1; ++round) {
    const int out = (dist.rank() + p - round) % p, in = (dist.rank() + 2 * p - round - 1) % p;
    dist.sendrecv(chunk(all, out, p), (dist.rank() + 1) % p, chunk(all, in, p),
                  (dist.rank() + p - 1) % p);
  }
}

TEST_CASE("an all-gather: p cells a rank, and a traveller for each message") {
  for (const int p : {2, 3, 4}) {
    CAPTURE(p);
    const std::string svg = svg_of(p, all_gather_ring);
    CHECK(count(svg, "class=\"e\"") == p * p);
    CHECK(count(svg, "<g class=\"t ") == p * (p - 1));
    // Each cell holds something at the end; readers who prefer reduced motion see that.
    CHECK(count(svg, " z\">") == p * p);
    CHECK(svg.find("pieces &amp; &lt;ranks&gt;") != std::string::npos);
    CHECK(count(svg, "<g") == count(svg, "</g>"));
  }
}

TEST_CASE("what cannot be drawn is an error that says why") {
  CHECK_THROWS_AS(svg_of(17, all_gather_ring), InvalidArgument);
  CHECK_THROWS_AS(svg_of(2, [](Comm& dist) { dist.barrier(); }), InvalidArgument);
  const auto many = [](Comm& dist) {
    std::vector<Tensor> tensors;
    for (int i = 0; i < 9; ++i) tensors.push_back(full(1, 1.0F));
    for (Tensor& each : tensors) dist.all_reduce(each);
  };
  CHECK_THROWS_AS(svg_of(2, many), InvalidArgument);
}

TEST_CASE("a schedule: a bar for each computation, a line for each message") {
  RunReport report;
  run_world(
      {.world_size = 2},
      [](Comm& dist) {
        Tensor x = full(2, 1.0F);
        if (dist.rank() == 1) dist.recv(x, 0);
        dist.compute(1e-3, "F0");
        if (dist.rank() == 0) dist.send(x, 1);
        dist.compute(2e-3, "B<");
      },
      &report);
  const auto draw = [&](const Trace& trace, const std::string& failure = "") {
    std::ostringstream out;
    write_schedule_svg(out, "a & b", failure, trace, replay_trace(trace, Cluster{}));
    return out.str();
  };
  const std::string svg = draw(report.trace);
  CHECK(count(svg, "<g class=\"s ") == 4);
  CHECK(count(svg, "<line ") == 1);
  CHECK(count(svg, ">F0<") == 2);
  CHECK(count(svg, "B&lt;") == 2);
  CHECK(count(svg, "a &amp; b") == 2);
  CHECK(count(svg, "class=\"f\"") == 0);
  const std::string failed = draw(report.trace, "a rank <died>\nat a line");
  CHECK(count(failed, "a &amp; b (the run failed)") == 2);
  CHECK(count(failed, "a rank &lt;died&gt;") == 2);  // drawn, and described
  CHECK(count(failed, "at a line") == 0);
  Trace many = report.trace;
  for (int i = 0; i < 600; ++i) many.ranks[0].push_back(many.ranks[0].back());
  CHECK_THROWS_AS(draw(many), InvalidArgument);
}

TEST_CASE("what ranks held when a run failed is titled, described and drawn as such") {
  const std::string svg = svg_of(2, [](Comm& dist) {
    Tensor x = full(2, 1.0F);
    if (dist.rank() == 0) dist.send(x, 1);
    if (dist.rank() == 1) dist.recv(x, 0);
    dist.recv(x, 1 - dist.rank());
  });
  CHECK(count(svg, "(the run failed)</t") == 2);  // <title> and a text
  CHECK(count(svg, "The run failed") == 1);
  CHECK(count(svg, "<text class=\"f\"") == 1);
  CHECK(count(svg, "deadlock") == 2);
  CHECK(count(svg_of(2, all_gather_ring), "failed") == 0);
}

TEST_CASE("of several tensors of a rank, each column has a number") {
  const std::string svg = svg_of(2, [](Comm& dist) {
    Tensor mine = full(2, 1.0F);
    Tensor theirs = zeros(2);
    dist.sendrecv(mine, 1 - dist.rank(), theirs, 1 - dist.rank());
  });
  CHECK(count(svg, ">tensor 1<") == 1);
  CHECK(count(svg, ">tensor 2<") == 1);
  CHECK(count(svg_of(2, all_gather_ring), ">tensor 1<") == 0);
}

TEST_CASE("the same run is the same picture") {
  CHECK(svg_of(4, all_gather_ring) == svg_of(4, all_gather_ring));
}

}  // namespace
}  // namespace rankbox
