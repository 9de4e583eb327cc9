// Random programs of sends, receives and collectives, for the stress test.
//
// A matched program is made from one global sequence of events (a message, a ring of sendrecvs, a
// collective, a split, some computing). Each rank executes its part of them in that order, and
// waits for asynchronous operations at any later point. So the first event in the sequence can
// always complete: the program cannot deadlock, in any buffering mode.
//
// A broken program is a matched one with one thing changed on one rank. It may still work.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "comm/collective_kind.h"
#include "comm/dtype.h"
#include "comm/reduce_op.h"
#include "comm/run_options.h"

namespace rankbox::testing {

enum class StepKind : std::uint8_t {
  kSend,
  kRecv,
  kSendrecv,
  kIsend,
  kIrecv,
  kCollective,
  kCollectiveAsync,
  kWait,
  kSplit,
  kCompute,
  kThrow,
  kReturn,
};

/// One call of one rank. Peers are ranks of the world, also in other groups.
struct Step {
  StepKind kind = StepKind::kCompute;
  int group = 0;              // index into Program::groups
  int peer = -1;              // destination, or source of a receive; root of a collective
  int src = -1;               // kSendrecv: the source
  std::int64_t count = 0;     // elements (sent, received, contributed); see piece_of()
  std::int64_t count_in = 0;  // kSendrecv: elements received
  DType dtype = DType::kInt64;
  CollectiveKind collective = CollectiveKind::kBarrier;
  ReduceOp op = ReduceOp::SUM;
  int request = -1;        // what kIsend, kIrecv, kCollectiveAsync start, and kWait waits for
  std::int64_t value = 0;  // seed of element_of()
  int color = 0;           // kSplit
  int made_group = -1;     // kSplit: the group this rank gets
};

/// Returns the elements that rank `src` of a group sends to rank `dst` in a collective of unequal
/// pieces, with Step::count. They differ wherever the counts do.
constexpr std::int64_t piece_of(std::int64_t count, std::int64_t src, std::int64_t dst) {
  return count + (src + 2 * dst) % 3;
}

struct Program {
  std::uint64_t seed = 0;  // of the program
  int world_size = 1;
  Buffering buffering = Buffering::rendezvous();
  std::uint64_t schedule = 0;            // RunOptions::seed
  std::vector<std::vector<int>> groups;  // [0]: the world
  std::vector<std::vector<Step>> ranks;  // [rank][step]
  std::string change;                    // what was broken, in words; empty for a matched program
};

/// Returns a working program of 1 to `most_ranks` ranks, at most 9, and 3 to `most_events` events.
Program matched_program(std::uint64_t seed, int most_ranks = 9, int most_events = 25);

/// Returns a matched program with one thing changed.
Program broken_program(std::uint64_t seed, int most_ranks = 9, int most_events = 25);

/// Returns element i of what the step sends or contributes. Exact in the step's dtype, and so are
/// the reductions of up to 9 ranks' elements by the step's op.
std::int64_t element_of(const Step& step, std::int64_t i);

/// Returns a digest of these elements, which ranks record for received data.
std::uint64_t digest(std::span<const std::int64_t> elements);

/// Returns the program as text, for a failed test.
std::string to_string(const Program& program);

constexpr bool starts_request(StepKind kind) {
  return kind == StepKind::kIsend || kind == StepKind::kIrecv || kind == StepKind::kCollectiveAsync;
}
constexpr bool is_collective(StepKind kind) {
  return kind == StepKind::kCollective || kind == StepKind::kCollectiveAsync;
}
constexpr bool is_message(StepKind kind) {
  return kind == StepKind::kSend || kind == StepKind::kRecv || kind == StepKind::kSendrecv ||
         kind == StepKind::kIsend || kind == StepKind::kIrecv;
}

}  // namespace rankbox::testing
