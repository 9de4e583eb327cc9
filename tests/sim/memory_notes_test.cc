// RunOptions::memory_notes: which memory calls, copies and fills read and write, in program order.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/memory_note.h"
#include "comm/run_ranks.h"

namespace rankbox {
namespace {

using Kind = MemoryNote::Kind;

std::string text_of(const MemoryNote& note) {
  switch (note.kind) {
    case Kind::kAllocate:
      return fmt::format("allocate {}", note.into_bytes);
    case Kind::kFree:
      return fmt::format("free {}", note.into_bytes);
    case Kind::kZero:
      return fmt::format("zero {}", note.into_bytes);
    case Kind::kWrite:
      return fmt::format("write {}", note.into_bytes);
    case Kind::kCopy:
      return fmt::format("copy {}", note.from_bytes);
    case Kind::kEvent:
      return fmt::format("event {}: {} <- {}", note.event, note.into_bytes, note.from_bytes);
  }
  return "?";
}

std::vector<std::string> notes_of(const Trace& trace, std::size_t rank) {
  std::vector<std::string> texts;
  for (const MemoryNote& note : trace.memory_notes[rank]) texts.push_back(text_of(note));
  return texts;
}

void program(Comm& dist) {
  if (dist.rank() == 2) return;
  Tensor a = full(4, 1.0F);
  Tensor b = zeros(4);
  dist.sendrecv(a, 1 - dist.rank(), b, 1 - dist.rank());
  accumulate(chunk(a, 1, 2), chunk(b, 1, 2), ReduceOp::SUM);
  copy(chunk(b, 0, 2), chunk(a, 0, 2));
  dist.wait(dist.rank() == 0 ? dist.isend(a, 1) : dist.irecv(b, 0));
}

TEST_CASE("notes are in program order, with the bytes of each call") {
  for (const ExecutorKind executor : {ExecutorKind::kThreads, ExecutorKind::kFibers}) {
    RunReport report;
    run_world({.world_size = 3, .executor = executor, .memory_notes = 100}, program, &report);
    const std::vector<std::string> before = {
        "allocate 16",      "write 16",         "allocate 16",     "zero 16",
        "event 0: 0 <- 16", "event 1: 16 <- 0", "event 2: 8 <- 8", "copy 8"};
    for (std::size_t rank = 0; rank < 2; ++rank) {
      std::vector<std::string> all = before;
      all.push_back(rank == 0 ? "event 3: 0 <- 16" : "event 3: 16 <- 0");
      all.insert(all.end(), {"event 4: 0 <- 0", "free 16", "free 16"});
      CHECK(notes_of(report.trace, rank) == all);
    }
    CHECK(notes_of(report.trace, 2).empty());
  }
}

TEST_CASE("a rank with more notes than it may have leaves none, rather than some") {
  RunReport report;
  run_world({.world_size = 3, .memory_notes = 5}, program, &report);
  CHECK(report.trace.memory_notes.empty());
}

}  // namespace
}  // namespace rankbox
