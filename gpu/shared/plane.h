// Ranks that share GPUs: the sandbox's engine, with tensors in device memory.
//
// Who meets whom, deadlocks, verdicts, traces and virtual time are the sandbox's
// (sim/data_plane.h). This puts the data's part on streams: a message is a copy from one rank's
// memory to the other's, on the stream of the rank that came second. What is enqueued now waits for
// what the other rank had enqueued when it called, and the other rank's stream waits for the copy,
// by events. So calls return when the work is enqueued, as NCCL's do, and ranks' kernels and copies
// overlap as far as their program allows: what isend, irecv and …_async start goes to the rank's
// side stream, and is joined by wait().
//
// What this measures and what not: the ranks' kernels and copies share one memory, so sizes at
// which memory is the limit show the traffic that an algorithm causes. No link is measured.
//
// Ranks may be spread over several GPUs, in order; a copy between two of them takes the driver's
// way, and a collective's kernel reads from other GPUs where it can reach them.
//
// Cost: per message, about six CUDA calls of a microsecond each, on two threads. Blocks: never, but
// for cudaMalloc. Thread safety: as a DataPlane. Errors: CudaError, OutOfMemory.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/slice.h"
#include "gpu/device/rank_device.h"
#include "gpu/shared/events.h"
#include "gpu/shared/staging.h"
#include "gpu/shared/transit.h"
#include "sim/data_plane.h"

namespace rankbox::gpu {

class SharedPlane final : public sim::DataPlane {
 public:
  /// @param devices [rank]
  /// @param deadline_seconds for every wait of a rank for its stream
  SharedPlane(std::vector<int> devices, double deadline_seconds);
  /// Frees all ranks' memory, and so not before all ranks have left: where a run failed, one rank's
  /// stream may have been left with work on another one's memory that no rank waits for.
  ~SharedPlane() override;

  void enter(int rank) override;
  void leave(int rank) noexcept override;
  void prepare(int rank, bool later, std::span<Transit*> operations) override;
  Transit* prepare_copy(int rank, Slice slice, void** data) override;
  void copy(Side to, Side from, std::int64_t bytes, const Transit* mine) override;
  void run(std::span<const Part> parts, const Transit* mine) override;
  void finish(int rank, Transit* transit) override;
  void discard(Transit* transit) noexcept override;

 private:
  /// Only the rank's own thread looks at it, until all have left.
  struct Rank {
    std::unique_ptr<RankDevice> gpu;
    bool done = true;            // nothing runs on its streams any more
    std::vector<int> reachable;  // devices whose memory its kernels can use
  };

  Rank& state_of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  RankDevice& device_of_rank(int rank) { return *state_of(rank).gpu; }
  void give_up(Transit* transit) noexcept;

  const std::vector<int> devices_;
  const double deadline_seconds_;
  SharedEvents events_;
  SharedStaging staging_{events_};
  SharedTransits transits_;
  std::vector<Rank> ranks_;
};

}  // namespace rankbox::gpu
