#include "viewer/held_memory.h"

#include <algorithm>

namespace rankbox {
namespace {

using State = HeldContents::State;

/// Returns bytes [begin, begin + bytes) of a run.
HeldRun cut(const HeldRun& run, std::int64_t begin, std::int64_t bytes) {
  HeldRun piece = run;
  piece.bytes = bytes;
  piece.contents.home_offset += begin;
  return piece;
}

HeldContents sum_of(const HeldContents& into, const HeldContents& from, ReduceOp op) {
  const bool adds = op == ReduceOp::SUM || op == ReduceOp::AVG;
  if (into.state != State::kHeld && (adds || from.state != State::kHeld)) return from;
  if (from.state != State::kHeld) return into;
  HeldContents both = into;
  const bool is_idempotent = op == ReduceOp::MAX || op == ReduceOp::MIN;
  for (const auto& [tensor, times] : from.from) {
    int& count = both.from[tensor];
    count = is_idempotent ? std::max(count, times) : count + times;
  }
  return both;
}

}  // namespace

HeldRuns part_of(const HeldRuns& runs, std::int64_t begin, std::int64_t end) {
  HeldRuns part;
  for_each_run(runs, [&](std::int64_t at, const HeldRun& run) {
    const std::int64_t from = std::max(at, begin);
    const std::int64_t to = std::min(at + run.bytes, end);
    if (from < to) part.push_back(cut(run, from - at, to - from));
  });
  return part;
}

void overwrite(HeldRuns& runs, std::int64_t begin, const HeldRuns& with) {
  std::int64_t bytes = 0;
  for (const HeldRun& run : with) bytes += run.bytes;
  HeldRuns all = part_of(runs, 0, begin);
  all.insert(all.end(), with.begin(), with.end());
  const HeldRuns rest = part_of(runs, begin + bytes, INT64_MAX);
  all.insert(all.end(), rest.begin(), rest.end());
  runs = std::move(all);
}

HeldRuns combined(const HeldRuns& into, const HeldRuns& from, ReduceOp op) {
  HeldRuns runs;
  for_each_run(into, [&](std::int64_t begin, const HeldRun& run) {
    std::int64_t at = 0;
    for (const HeldRun& other : part_of(from, begin, begin + run.bytes)) {
      HeldRun piece = cut(run, at, other.bytes);
      piece.contents = sum_of(piece.contents, other.contents, op);
      runs.push_back(piece);
      at += other.bytes;
    }
  });
  return runs;
}

}  // namespace rankbox
