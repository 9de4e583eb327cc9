// The events of every rank, in program order. Clocks, costs, verdicts and drawings are computed
// from them.
//
// A trace holds no order between ranks except the one that the messages impose: the k-th send from
// s to d within a group matches the k-th receive at d from s. So the same program produces the same
// trace under any schedule, except for wall-clock times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/collective_kind.h"
#include "comm/dtype.h"
#include "comm/label.h"
#include "comm/memory_note.h"
#include "comm/place.h"
#include "comm/reduce_op.h"

namespace rankbox {

enum class EventKind : std::uint8_t { kSend, kRecv, kCollective, kWait, kReduce, kCompute };

/// Returns "send"; collectives have their own names, see collective_kind.h.
constexpr const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::kSend:
      return "send";
    case EventKind::kRecv:
      return "recv";
    case EventKind::kCollective:
      return "collective";
    case EventKind::kWait:
      return "wait";
    case EventKind::kReduce:
      return "reduce";
    case EventKind::kCompute:
      return "compute";
  }
  return "unknown";
}

/// One operation of a rank. Fields that a kind does not use are 0 (peer: -1).
struct Event {
  EventKind kind = EventKind::kCompute;
  CollectiveKind collective = CollectiveKind::kBarrier;  // kCollective
  ReduceOp op = ReduceOp::SUM;                           // kReduce and reducing collectives
  DType dtype = DType::kFloat32;
  bool async = false;  // started here, finished at the kWait event with the same request
  // First half of a sendrecv: the next event is its other half, and starts at the same time. kWait:
  // the rank's previous wait is of the same wait_all.
  bool paired = false;
  bool buffered = false;   // a send that did not wait for its receiver
  bool done = false;       // false: the rank was still inside when the run stopped
  std::int32_t peer = -1;  // world rank of the destination, source or root
  std::int32_t group = 0;  // index into Trace::groups
  // The number of this rank's asynchronous operation, shared with its kWait.
  std::uint32_t request = 0;
  // Tensor bytes that the rank held before the event. Exact up to 16 MiB, approximate beyond: a
  // float fits into the padding, so an event stays one cache line.
  float memory = 0;
  // Bytes of the message, of the reduction, or of this rank's contribution to the collective: of an
  // all_to_all_v, what it sends to the others, or receives from them if that is more. For kCompute
  // the label's bits (label_of).
  std::int64_t bytes = 0;
  double seconds = 0;         // kCompute
  std::int64_t begin_ns = 0;  // wall clock since the start of the run
  std::int64_t end_ns = 0;
  Place place{};
};

/// Returns the name of the call: "send", "all_reduce".
constexpr const char* name_of(const Event& event) {
  return event.kind == EventKind::kCollective ? name_of(event.collective) : name_of(event.kind);
}

/// Returns the label of a computation, if the program set one.
constexpr Label label_of(const Event& event) {
  return event.kind == EventKind::kCompute ? Label::of_bits(event.bytes) : Label();
}

/// The first elements of an event's slice after the event.
struct Snapshot {
  std::size_t event = 0;  // index into Trace::ranks[rank]
  std::vector<double> values;
};

struct Trace {
  std::vector<std::vector<Event>> ranks;  // [world rank][in program order]
  std::vector<std::vector<int>> groups;  // world ranks of each communicator; groups[0] is the world
  std::vector<int> nodes;                // node of each world rank
  std::int64_t left_out = 0;             // events of all ranks that are not in `ranks`
  // [world rank], in the order in which events ended; empty unless RunOptions::snapshot_elements is
  // set.
  std::vector<std::vector<Snapshot>> snapshots;
  // [world rank], in program order; empty unless RunOptions::memory_notes is set, or if a rank had
  // more than it allows.
  std::vector<std::vector<MemoryNote>> memory_notes;
};

}  // namespace rankbox
