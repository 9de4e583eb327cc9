// What every rank did, in its own order: the one record that clocks, costs, verdicts and pictures
// are computed from.
//
// A trace holds no order between ranks beyond what the messages themselves impose: the k-th send
// from s to d within a group matches the k-th receive at d from s. So the same program leaves the
// same trace whatever the threads do, but for the wall-clock ticks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/collective_kind.h"
#include "comm/dtype.h"
#include "comm/label.h"
#include "comm/place.h"
#include "comm/reduce_op.h"

namespace rankbox {

enum class EventKind : std::uint8_t { kSend, kRecv, kCollective, kWait, kReduce, kCompute };

/// "send"; a collective has a name of its own, see collective_kind.h.
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

/// One thing a rank did. Fields that a kind does not use are 0 (peer: -1).
struct Event {
  EventKind kind = EventKind::kCompute;
  CollectiveKind collective = CollectiveKind::kBarrier;  // kCollective
  ReduceOp op = ReduceOp::SUM;                           // kReduce and reducing collectives
  DType dtype = DType::kFloat32;
  bool async = false;  // started here, finished at the kWait event with the same request
  // First half of a sendrecv: the next event is its other half, and starts at the same time.
  bool paired = false;
  bool buffered = false;   // a send that did not wait for its receiver
  bool done = false;       // false: the rank was still inside when the run stopped
  std::int32_t peer = -1;  // world rank of the destination, source or root
  std::int32_t group = 0;  // index into Trace::groups
  // Numbers this rank's asynchronous operations, and ties them to their kWait.
  std::uint32_t request = 0;
  // Tensor bytes the rank held when it came here. Exact up to 16 MiB, and close enough beyond: as a
  // float it fits where alignment leaves a gap, so that an event stays one cache line.
  float memory = 0;
  // Of the message, of the reduction, or of this rank's contribution to the collective; of kCompute
  // the label's bits (label_of).
  std::int64_t bytes = 0;
  double seconds = 0;         // kCompute
  std::int64_t begin_ns = 0;  // wall clock since the start of the run
  std::int64_t end_ns = 0;
  Place place{};
};

/// What was called: "send", "all_reduce".
constexpr const char* name_of(const Event& event) {
  return event.kind == EventKind::kCollective ? name_of(event.collective) : name_of(event.kind);
}

/// What was computed, where the program said so.
constexpr Label label_of(const Event& event) {
  return event.kind == EventKind::kCompute ? Label::of_bits(event.bytes) : Label();
}

/// What the slice of an event held when the event was over: its first elements.
struct Snapshot {
  std::size_t event = 0;  // index into Trace::ranks[rank]
  std::vector<double> values;
};

struct Trace {
  std::vector<std::vector<Event>> ranks;  // [world rank][in program order]
  std::vector<std::vector<int>> groups;  // world ranks of each communicator; groups[0] is the world
  std::vector<int> nodes;                // node of each world rank
  // [world rank], as their events ended; empty unless RunOptions::snapshot_elements asked for them.
  std::vector<std::vector<Snapshot>> snapshots;
};

}  // namespace rankbox
