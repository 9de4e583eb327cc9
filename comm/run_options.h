// How a world of ranks is run, and what is known about the run afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/cluster.h"
#include "comm/trace.h"

namespace rankbox {

/// When a send may return before its receiver has the data.
class Buffering {
 public:
  /// Never: a send waits for its receive. The default, and what NCCL may do at any size.
  static constexpr Buffering rendezvous() { return Buffering(-1); }
  /// For messages of at most this many bytes, as MPI and NCCL often do.
  static constexpr Buffering eager(std::int64_t bytes) { return Buffering(bytes); }
  /// Always. Hides deadlocks: a program that needs it hangs on real machines.
  static constexpr Buffering unbounded() { return Buffering(INT64_MAX); }

  constexpr bool buffers(std::int64_t bytes) const { return bytes <= limit_; }
  constexpr bool operator==(const Buffering&) const = default;

 private:
  explicit constexpr Buffering(std::int64_t limit) : limit_(limit) {}
  std::int64_t limit_;
};

/// Who runs the ranks.
enum class ExecutorKind : std::uint8_t {
  /// A thread each: right for any program, and what programs are graded with.
  kThreads,
  /// Fibers on as many threads as there are cores: many ranks on few cores take turns at a fraction
  /// of the cost, and there may be tens of thousands. For programs whose ranks wait for each other
  /// only through their communicators: a rank that waits in another way (a std::mutex that another
  /// rank holds, an atomic, a sleep) keeps its thread from the very rank that it waits for. The
  /// delay of a fault holds up all ranks of its thread, and so does a rank that computes for long.
  kFibers,
};

constexpr const char* name_of(ExecutorKind kind) {
  return kind == ExecutorKind::kFibers ? "fibers" : "threads";
}

/// A misfortune to rehearse: before its `operation`-th call (from 0) the rank throws, or sleeps.
struct Fault {
  enum class Kind : std::uint8_t { kCrash, kDelay };
  int rank = 0;
  std::int64_t operation = 0;
  Kind kind = Kind::kCrash;
  double seconds = 0;  // kDelay: real time
};

struct RunOptions {
  int world_size = 1;
  int nodes = 1;  // rank r lives on node r*nodes/world_size
  Buffering buffering = Buffering::rendezvous();
  Cluster cluster = {};
  ExecutorKind executor = ExecutorKind::kThreads;
  // 0: leave the schedule alone; else random pauses shake it, other ones for every seed.
  std::uint64_t seed = 0;
  std::vector<Fault> faults = {};
  // What isend was given is compared when it is waited for, and what irecv was given is NaN (or -1)
  // until then: mistakes show every time, and not by luck. O(n) each.
  bool watch_buffers = false;
  // So many first elements of whatever is sent, received or reduced are copied into the trace.
  int snapshot_elements = 0;
  // Where deadlocks are not proved (MPI, NCCL): how long a rank may wait for the others.
  double deadline_seconds = 30;
  // Whether ranks compare their arguments before a native collective starts, and so learn of a
  // mismatch. The sandbox always does; on MPI and NCCL it costs a short exchange each time. Off, as
  // times are taken, the calls of these do no more than the library's own, which block there.
  bool check_collectives = true;
  bool trace = true;  // off: the report has no trace, clocks or cost
};

/// Exact cost coefficients: along the critical path, this many message latencies, bytes sent and
/// bytes reduced. Time on a machine with one class of links is steps*α + bytes*β + reduced*γ, if
/// the critical path is the same for all.
struct Cost {
  double steps = 0;
  double bytes = 0;
  double reduced = 0;
  bool operator==(const Cost&) const = default;
};

/// A rank's virtual clocks when it returned.
struct Clock {
  double seconds = 0;  // on RunOptions::cluster
  Cost cost;           // under (α,β,γ) = (1,0,0), (0,1,0) and (0,0,1), each a clock of its own
};

struct RunReport {
  std::vector<Clock> clocks;             // [rank]
  double virtual_seconds = 0;            // the latest of the clocks
  Cost cost;                             // each coefficient's latest
  double wall_seconds = 0;               // from the first rank's start to the last one's end
  std::int64_t messages = 0;             // point-to-point messages sent by all ranks
  std::int64_t bytes = 0;                // and their bytes
  std::vector<std::int64_t> peak_bytes;  // [rank] most tensor bytes held at once
  Trace trace;
};

}  // namespace rankbox
