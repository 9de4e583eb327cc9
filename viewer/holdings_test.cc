// What ranks hold: the pieces of their buffers, whose contributions, since when.
#include "viewer/holdings.h"

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/run_ranks.h"

namespace rankbox {
namespace {

using Rows = std::vector<std::string>;

std::string text_of(const Rows& rows) { return fmt::format("{}", fmt::join(rows, "\n")); }

Trace trace_of(int ranks, const std::function<void(Comm&)>& body) {
  RunReport report;
  RunOptions how;
  how.world_size = ranks;
  how.memory_notes = 10'000;
  try {
    run_world(how, body, &report);
  } catch (const DeadlockError&) {  // what was held until then is drawn, too
  }
  return report.trace;
}

std::string text_of(const PieceContents& contents) {
  if (contents.from.empty()) return "-";
  std::string text;
  for (const auto& [rank, times] : contents.from) {
    if (!text.empty()) text += "+";
    text += times == 1 ? fmt::format("{}", rank) : fmt::format("{}x{}", times, rank);
  }
  return contents.label.empty() ? text : text + " " + contents.label;
}

/// Returns the cells of each drawn buffer, "1: 0+1 c0 | -" on rank 1, at the start or at the end.
std::string cells(const Holdings& holdings, bool at_start) {
  std::size_t count = 0;
  for (const HeldBuffer& buffer : holdings.buffers) count += buffer.begins.size();
  std::vector<std::size_t> now(count, 0);
  for (const HoldingChange& change : holdings.changes) {
    if (at_start && change.event.event != HoldingChange::kStart) continue;
    now[static_cast<std::size_t>(change.cell)] = change.contents;
  }
  Rows rows;
  for (const HeldBuffer& buffer : holdings.buffers) {
    std::string row = fmt::format("{}:", buffer.rank);
    for (std::size_t i = 0; i < buffer.begins.size(); ++i) {
      const std::size_t cell = static_cast<std::size_t>(buffer.first_cell) + i;
      row += (i == 0 ? " " : " | ") + text_of(holdings.contents[now[cell]]);
    }
    rows.push_back(row);
  }
  return text_of(rows);
}

void all_reduce_ring(Comm& dist, Slice tensor, ReduceOp op = ReduceOp::SUM) {
  const int p = dist.world_size(), rank = dist.rank();
  Tensor incoming = zeros(chunk(tensor, 0, p).size());
  const int next = (rank + 1) % p, prev = (rank + p - 1) % p;
  for (int round = 0; round < p - 1; ++round) {
    const int out = (rank + p - round) % p, in = (rank + 2 * p - round - 1) % p;
    dist.sendrecv(chunk(tensor, out, p), next, incoming, prev);
    accumulate(chunk(tensor, in, p), incoming, op);
  }
  for (int round = 0; round < p - 1; ++round) {
    const int out = (rank + 1 + p - round) % p, in = (rank + p - round) % p;
    dist.sendrecv(chunk(tensor, out, p), next, chunk(tensor, in, p), prev);
  }
}

TEST_CASE("a ring all-reduce: every piece ends with one contribution of each rank") {
  for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::MAX}) {
    const Trace trace = trace_of(3, [&](Comm& dist) {
      Tensor tensor = full(6, 1.0F);
      all_reduce_ring(dist, tensor, op);
    });
    const Holdings holdings = holdings_of(trace);
    CHECK(cells(holdings, true) ==
          text_of(Rows{"0: 0 c0 | 0 c1 | 0 c2", "1: 1 c0 | 1 c1 | 1 c2", "2: 2 c0 | 2 c1 | 2 c2"}));
    CHECK(cells(holdings, false) ==
          text_of(Rows{"0: 0+1+2 c0 | 0+1+2 c1 | 0+1+2 c2", "1: 0+1+2 c0 | 0+1+2 c1 | 0+1+2 c2",
                       "2: 0+1+2 c0 | 0+1+2 c1 | 0+1+2 c2"}));
    // Round 0: rank 0 sends its piece 0, receives piece 2, and adds it.
    const std::vector<std::string>& labels = holdings.labels[0];
    REQUIRE(labels.size() == 10);
    CHECK(Rows(labels.begin(), labels.begin() + 3) == Rows{"c0", "c2", "c2"});
  }
}

TEST_CASE("what is added twice is counted twice, unless it is a maximum") {
  for (const auto& [op, expected] :
       {std::pair{ReduceOp::SUM, "2x0+1"}, std::pair{ReduceOp::MAX, "0+1"}}) {
    const Trace trace = trace_of(2, [op = op](Comm& dist) {
      Tensor tensor = full(2, 1.0F);
      Tensor incoming = zeros(2);
      for (int i = 0; i < 2; ++i) {
        if (dist.rank() == 0) dist.send(tensor, 1);
        if (dist.rank() == 0) continue;
        dist.recv(incoming, 0);
        accumulate(tensor, incoming, op);
      }
    });
    CHECK(cells(holdings_of(trace), false) ==
          text_of(Rows{"0: 0 r0", fmt::format("1: {}", expected)}));
  }
}

TEST_CASE("a gradient that its rank adds to its weights does not count as added twice") {
  const Trace trace = trace_of(2, [](Comm& dist) {
    Tensor weights = full(2, 1.0F);
    Tensor gradient = full(2, 0.5F);
    dist.all_reduce(gradient);
    accumulate(weights, gradient, ReduceOp::SUM);
  });
  CHECK(cells(holdings_of(trace), false) == text_of(Rows{"0: 0+1", "0: 0+1", "1: 0+1", "1: 0+1"}));
}

TEST_CASE("native collectives move contributions as their results do") {
  struct Row {
    std::string name;
    std::function<void(Comm&, Tensor&, Tensor&)> call;
    Rows end;
  };
  const std::vector<Row> rows = {
      {"broadcast",
       [](Comm& dist, Tensor& x, Tensor&) { dist.broadcast(x, 1); },
       {"0: 1 r1", "1: 1 r1"}},
      {"all_reduce",
       [](Comm& dist, Tensor& x, Tensor&) { dist.all_reduce(x); },
       {"0: 0+1", "1: 0+1"}},
      {"reduce", [](Comm& dist, Tensor& x, Tensor&) { dist.reduce(x, 1); }, {"0: 0 r0", "1: 0+1"}},
      {"all_gather",
       [](Comm& dist, Tensor& x, Tensor& y) { dist.all_gather(x, y); },
       {"0: 0 r0", "0: 0 r0 | 1 r1", "1: 1 r1", "1: 0 r0 | 1 r1"}},
      {"asynchronous all_gather",
       [](Comm& dist, Tensor& x, Tensor& y) { dist.wait(dist.all_gather_async(x, y)); },
       {"0: 0 r0", "0: 0 r0 | 1 r1", "1: 1 r1", "1: 0 r0 | 1 r1"}},
      {"scatter",
       [](Comm& dist, Tensor& x, Tensor& y) { dist.scatter(y, x, 0); },
       {"0: 0 c0", "0: 0 c0 | 0 c1", "1: 0 c1", "1: - | -"}},
      {"gather",
       [](Comm& dist, Tensor& x, Tensor& y) { dist.gather(x, y, 1); },
       {"0: 0 r0", "0: - | -", "1: 1 r1", "1: 0 r0 | 1 r1"}},
      {"all_to_all",
       [](Comm& dist, Tensor& x, Tensor&) {
         Tensor out = zeros(2);
         dist.all_to_all(x, out);
       },
       {"0: 0 c0 | 0 c1", "0: 0 c0 | 1 c0", "1: 1 c0 | 1 c1", "1: 0 c1 | 1 c1"}},
      {"all_gather in place",
       [](Comm& dist, Tensor&, Tensor& y) { dist.all_gather(chunk(y, dist.rank(), 2), y); },
       {"0: 0 c0 | 1 c1", "1: 0 c0 | 1 c1"}},
      {"reduce_scatter",
       [](Comm& dist, Tensor& x, Tensor& y) { dist.reduce_scatter(y, x); },
       {"0: 0+1 c0", "0: 0 c0 | 0 c1", "1: 0+1 c1", "1: 1 c0 | 1 c1"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Trace trace = trace_of(2, [&](Comm& dist) {
      Tensor x = full(2, 1.0F);
      Tensor y = full(4, 2.0F);
      row.call(dist, x, y);
    });
    CHECK(cells(holdings_of(trace), false) == text_of(row.end));
  }
}

TEST_CASE("uneven chunks are cut by elements") {
  const Trace trace = trace_of(2, [](Comm& dist) {
    Tensor x = full(5, 1.0F);
    Tensor piece = zeros(chunk(x, dist.rank(), 2).size());
    dist.reduce_scatter(x, piece);
    Tensor out = zeros(2 * piece.size());
    dist.all_to_all(x, out);
  });
  const Holdings holdings = holdings_of(trace);
  CHECK(holdings.buffers.size() >= 4);
  for (const HeldBuffer& buffer : holdings.buffers) {
    if (buffer.bytes == 20) CHECK(buffer.begins == std::vector<std::int64_t>{0, 8});
    for (const std::int64_t begin : buffer.begins) CHECK(begin % 4 == 0);
  }
}

TEST_CASE("in a group, contributions are those of world ranks") {
  const Trace trace = trace_of(4, [](Comm& dist) {
    Tensor x = full(1, 1.0F);
    Comm part = dist.split(dist.rank() % 2, -dist.rank());
    part.broadcast(x, 0);
  });
  CHECK(cells(holdings_of(trace), false) ==
        text_of(Rows{"0: 2 r2", "1: 3 r3", "2: 2 r2", "3: 3 r3"}));
}

TEST_CASE("a copy of a tensor does not take its place when it is freed") {
  const Trace trace = trace_of(2, [](Comm& dist) {
    Tensor out = zeros(2);
    {
      Tensor in = full(2, 1.0F);
      dist.broadcast(in, 0);
      copy(out, in);
    }
    dist.all_reduce(out);
  });
  const std::string rows = cells(holdings_of(trace), false);
  CHECK(rows.find("0: 0 r0") != std::string::npos);
  CHECK(rows.find("1: 0 r0") != std::string::npos);
}

TEST_CASE("asynchronous messages arrive at their wait") {
  const Trace trace = trace_of(2, [](Comm& dist) {
    Tensor mine = full(2, 1.0F);
    Tensor theirs = zeros(2);
    const int other = 1 - dist.rank();
    dist.wait_all({dist.irecv(theirs, other), dist.isend(mine, other)});
  });
  const Holdings holdings = holdings_of(trace);
  CHECK(cells(holdings, false) == text_of(Rows{"0: 0 r0", "0: 1 r1", "1: 1 r1", "1: 0 r0"}));
  for (const HoldingChange& change : holdings.changes) {
    if (change.event.event == HoldingChange::kStart) continue;
    const Event& event =
        trace.ranks[static_cast<std::size_t>(change.event.rank)][change.event.event];
    CHECK(event.kind == EventKind::kWait);
  }
}

TEST_CASE("x = maximum(x, y) goes on as x") {
  const Trace trace = trace_of(2, [](Comm& dist) {
    Tensor x = full(2, 1.0F);
    Tensor y = zeros(2);
    if (dist.rank() == 1) return dist.send(x, 0);
    dist.recv(y, 1);
    x = maximum(x, y);
    dist.compute(1);
  });
  CHECK(cells(holdings_of(trace), false) == text_of(Rows{"0: 0+1", "1: 1 r1"}));
}

TEST_CASE("what arrives in another tensor is not drawn as the one that other ranks have there") {
  const auto ring = [](Comm& dist) {
    Tensor tensor = full(2, 1.0F);  // on ranks 1 and 2 never written
    Tensor got = zeros(2);
    if (dist.rank() > 0) dist.recv(got, dist.rank() - 1);
    if (dist.rank() == 0) dist.send(tensor, 1);
    if (dist.rank() == 1) dist.send(got, 2);
  };
  const Holdings holdings = holdings_of(trace_of(3, ring));
  CHECK(cells(holdings, false) ==
        text_of(Rows{"0: 0 r0", "0: -", "1: -", "1: 0 r0", "2: -", "2: 0 r0"}));
  for (std::size_t i = 0; i < holdings.buffers.size(); ++i)
    CHECK(holdings.buffers[i].column == static_cast<int>(i % 2));
}

TEST_CASE("a run that ends in a deadlock shows what was held until then") {
  const Trace trace = trace_of(2, [](Comm& dist) {
    Tensor x = full(2, 1.0F);
    if (dist.rank() == 0) dist.send(x, 1);
    if (dist.rank() == 1) dist.recv(x, 0);
    dist.recv(x, 1 - dist.rank());
  });
  CHECK(cells(holdings_of(trace), false) == text_of(Rows{"0: 0 r0", "1: 0 r0"}));
}

TEST_CASE("without notes, or with too many ranks, nothing is drawn") {
  RunReport report;
  run_world(
      {.world_size = 2},
      [](Comm& dist) {
        Tensor x = full(2, 1.0F);
        dist.all_reduce(x);
      },
      &report);
  CHECK(holdings_of(report.trace).buffers.empty());
  const Trace many = trace_of(65, [](Comm& dist) {
    Tensor x = full(2, 1.0F);
    dist.all_reduce(x);
  });
  CHECK(holdings_of(many).buffers.empty());
}

TEST_CASE("of more than 64 pieces, neighbours are drawn as one: what all of them hold") {
  const Trace trace = trace_of(2, [](Comm& dist) {
    Tensor x = full(100, 1.0F);
    for (int i = 0; i < 99; ++i) {
      if (dist.rank() == 0) dist.send(chunk(x, i, 100), 1);
      if (dist.rank() == 1) dist.recv(chunk(x, i, 100), 0);
    }
  });
  const Holdings holdings = holdings_of(trace);
  REQUIRE(holdings.buffers.size() == 2);
  CHECK(holdings.buffers[1].begins.size() == 64);
  const std::string last = cells(holdings, false);
  CHECK(last.ends_with("| -"));
}

}  // namespace
}  // namespace rankbox
