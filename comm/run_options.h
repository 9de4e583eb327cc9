// Options of a run of ranks, and its report.
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

/// In which order messages are carried out that a rank has started.
enum class MessageOrder : std::uint8_t {
  /// Each as soon as both sides have called it, as with MPI.
  kAny,
  /// As with NCCL: a message that is not grouped with others starts once the rank's one before it
  /// is done. Groups are sendrecv, and what one wait_all
  /// waits for. A run that ends, and would hang in this order, then
  /// fails with the DeadlockError of sim/clock/stream_order.h. Needs the whole trace.
  kStream,
};

/// How ranks are executed.
enum class ExecutorKind : std::uint8_t {
  /// One thread per rank. Works for any program; used for grading.
  kThreads,
  /// Fibers on as many threads as there are cores. Many ranks on few cores switch at a fraction of
  /// the cost, and a million are possible. Ranks may wait for each other only through their
  /// communicators. Any other wait (a std::mutex that another rank holds, an atomic, a sleep)
  /// blocks its thread, and possibly the rank that it waits for. The delay of a fault, or a long
  /// computation, blocks all ranks of its thread.
  kFibers,
};

constexpr const char* name_of(ExecutorKind kind) {
  return kind == ExecutorKind::kFibers ? "fibers" : "threads";
}

struct RunOptions {
  int world_size = 1;
  int nodes = 1;  // rank r lives on node r*nodes/world_size
  Buffering buffering = Buffering::rendezvous();
  MessageOrder order = MessageOrder::kAny;  // sandbox
  Cluster cluster = {};
  ExecutorKind executor = ExecutorKind::kThreads;
  // kFibers: the threads that the ranks share. 0: one for each core. With 1, ranks run in the same
  // order every time.
  int fiber_threads = 0;
  // 0: an undisturbed schedule; else random delays, which depend on the seed.
  std::uint64_t seed = 0;
  // Compares what a started operation reads when its request is waited for, and fills what it
  // writes to with NaN (or -1) until then. Mistakes then show every time. O(n) each.
  bool watch_buffers = false;
  // Copies this many first elements of every sent, received or reduced slice into the trace.
  int snapshot_elements = 0;
  // Sandbox: notes which memory each call, copy and fill reads and writes (comm/memory_note.h), at
  // most so many of each rank. 0: none.
  int memory_notes = 0;
  // How long a rank may wait for the others where deadlocks are not proved (MPI, NCCL).
  double deadline_seconds = 30;
  // The same for the start of the run, where ranks have to find each other and connect (NCCL).
  // RANKBOX_START_SECONDS overrides it.
  double start_seconds = 60;
  // Native collectives are the library's blocking calls, as for measurements. MPI's are faster by
  // up to a factor of 4 (mpi/native.h), but a rank that times out in one reports alone.
  bool blocking_calls = false;
  // Sandbox: tensors that ranks make have a size and an address, but no data. Time and cost of any
  // size need no memory; reading or writing a value is an error (comm/without_data.h).
  bool without_data = false;
  bool trace = true;  // off: the report has no trace, clocks or cost
  // Sandbox: keeps only this many first events of each rank in the trace, and replays all during
  // the run, so that long runs need little memory. -1: keeps all.
  std::int64_t events_per_rank = -1;
};

/// Exact cost coefficients: the message latencies, bytes sent and bytes reduced along the critical
/// path. Time on a machine with one class of links is steps*α + bytes*β + reduced*γ, if the
/// critical path is the same for all.
struct Cost {
  double steps = 0;
  double bytes = 0;
  double reduced = 0;
  bool operator==(const Cost&) const = default;
};

/// A rank's virtual clocks when it returned.
struct Clock {
  double seconds = 0;  // on RunOptions::cluster
  Cost cost;           // each for its own clock: (α,β,γ) = (1,0,0), (0,1,0), (0,0,1)
};

struct RunReport {
  std::vector<Clock> clocks;             // [rank]
  double virtual_seconds = 0;            // the maximum over the clocks
  Cost cost;                             // the maximum of each coefficient
  double wall_seconds = 0;               // from the first rank's start to the last one's end
  std::int64_t messages = 0;             // point-to-point messages sent by all ranks
  std::int64_t bytes = 0;                // and their bytes
  std::vector<std::int64_t> peak_bytes;  // [rank] most tensor bytes held at once
  Trace trace;
};

}  // namespace rankbox
