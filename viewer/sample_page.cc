// Writes the page of a sample run, for viewer/browser_test.py and for viewing.
//
//   sample_page ring|overlap|deadlock|many_ranks|million > page.html
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "comm/run_ranks.h"
#include "viewer/html.h"

namespace rankbox {
namespace {

/// Ring all-reduce, two elements per chunk: sendrecv, reduce, snapshots.
void ring(Comm& dist) {
  const int p = dist.world_size();
  Tensor tensor = full(2 * p, static_cast<float>(dist.rank() + 1));
  Tensor incoming = zeros(2);
  const int next = (dist.rank() + 1) % p;
  const int prev = (dist.rank() + p - 1) % p;
  dist.compute(1e-6 * (dist.rank() % 3));
  for (int round = 0; round < p - 1; ++round) {
    const int out = (dist.rank() + p - round) % p;
    const int in = (dist.rank() + 2 * p - round - 1) % p;
    dist.sendrecv(chunk(tensor, out, p), next, incoming, prev);
    accumulate(chunk(tensor, in, p), incoming, ReduceOp::SUM);
  }
  for (int round = 0; round < p - 1; ++round) {
    const int out = (dist.rank() + 1 + p - round) % p;
    const int in = (dist.rank() + p - round) % p;
    dist.sendrecv(chunk(tensor, out, p), next, chunk(tensor, in, p), prev);
  }
}

/// Asynchronous messages during forward and backward passes, growing memory, native collectives.
void overlap(Comm& dist) {
  const int p = dist.world_size();
  const int next = (dist.rank() + 1) % p;
  const int prev = (dist.rank() + p - 1) % p;
  Tensor tensor = full(64, 1.0F);
  for (int round = 0; round < 4; ++round) {
    Tensor incoming = zeros(64 * (round + 1));
    Tensor outgoing = full(64 * (round + 1), 2.0F);
    const Comm::Request sent = dist.isend(outgoing, next);
    const Comm::Request received = dist.irecv(incoming, prev);
    dist.compute(1e-6 * (1 + (dist.rank() + round) % 3), round % 2 == 0 ? "F0" : "B0");
    dist.wait_all({sent, received});
    tensor += full(64, 1.0F);
    if (round % 2 == 1) dist.all_reduce(tensor);
  }
  dist.barrier();
}

/// Every rank waits for the previous one.
void deadlock(Comm& dist) {
  const int p = dist.world_size();
  Tensor tensor = full(4, 1.0F);
  if (dist.rank() == 0) dist.send(tensor, 1);
  if (dist.rank() == 1) dist.recv(tensor, 0);
  dist.compute(2e-7 * (dist.rank() + 1));
  dist.recv(tensor, (dist.rank() + p - 1) % p);
}

/// Long enough to test how fast a page opens: rounds of sendrecv, reduce and compute, recorded
/// without running them.
Trace made_up(int ranks, int rounds) {
  std::minstd_rand dice(7);
  Trace trace;
  trace.groups.emplace_back();
  for (int rank = 0; rank < ranks; ++rank) {
    trace.groups[0].push_back(rank);
    trace.nodes.push_back(0);
    std::vector<Event>& events = trace.ranks.emplace_back();
    std::int64_t now = 0;
    const auto add = [&](EventKind kind, int peer) -> Event& {
      Event& event = events.emplace_back();
      event.kind = kind;
      event.peer = peer;
      event.done = true;
      event.bytes = peer >= 0 ? 4096 : 0;
      event.memory = static_cast<float>(16384 + dice() % 65536);
      event.begin_ns = now;
      event.end_ns = now + 400;
      event.place = Place::current();
      return event;
    };
    for (int round = 0; round < rounds; ++round) {
      add(EventKind::kSend, (rank + 1) % ranks).paired = true;
      add(EventKind::kRecv, (rank + ranks - 1) % ranks);
      now += 400;
      add(EventKind::kReduce, -1).bytes = 4096;
      now += 400;
      add(EventKind::kCompute, -1).seconds = 1e-9 * static_cast<double>(dice() % 900);
      now += 400;
    }
  }
  return trace;
}

void write(const std::string& title, const Trace& trace, const RunReport& report,
           const std::optional<DeadlockError>& deadlock = {}) {
  HtmlOptions options;
  options.deadlock = deadlock;
  options.title = title;
  options.summary = "A sample for looking at, & for <tests>\nIts second line";
  options.peak_bytes = report.peak_bytes;
  options.source_lines = [](const std::string&) {
    std::vector<std::string> lines;
    for (int line = 1; line <= 200; ++line)
      lines.push_back("  text of line " + std::to_string(line) + "; // </script>");
    return lines;
  };
  write_html(std::cout, trace, replay_trace(trace, Cluster{}), options);
}

int run(const std::string& name) {
  if (name == "million") {
    write("A million events", made_up(16, 15'625), {});
    return 0;
  }
  RunOptions how;
  how.world_size = name == "many_ranks" ? 100 : 4;
  how.snapshot_elements = 16;
  how.memory_notes = 10'000;
  std::function<void(Comm&)> body;
  if (name == "ring" || name == "many_ranks") body = ring;
  if (name == "overlap") body = overlap;
  if (name == "deadlock") body = deadlock;
  if (!body) {
    std::fputs("usage: sample_page ring|overlap|deadlock|many_ranks|million > page.html\n", stderr);
    return 2;
  }
  RunReport report;
  std::optional<DeadlockError> stopped;
  try {
    run_world(how, body, &report);
  } catch (const DeadlockError& deadlock) {
    stopped = deadlock;  // a sample, too
  }
  write(name, report.trace, report, stopped);
  return 0;
}

}  // namespace
}  // namespace rankbox

int main(int argc, char** argv) { return rankbox::run(argc == 2 ? argv[1] : ""); }
