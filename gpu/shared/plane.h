// Ranks that share GPUs: the sandbox's engine, with tensors in device memory.
//
// The sandbox (sim/data_plane.h) does matching, deadlocks, verdicts, traces and virtual time. This
// class moves the data on streams: a message is a copy from one rank's memory to the other's, on
// the stream of the rank that arrives second. Events order it: the copy waits for the other rank's
// work enqueued before its call, and the other rank's stream waits for the copy. So calls return
// when the work is enqueued, as NCCL's do. The ranks' kernels and copies overlap as far as their
// program allows: isend, irecv and …_async use the rank's side stream, which wait() joins.
//
// Measurements: the ranks' kernels and copies share one memory, so sizes that are bound by memory
// show the traffic that an algorithm causes. Within one GPU no link is measured.
//
// Ranks may be spread over several GPUs, in order. A copy between two of them crosses their link,
// or the host, as the driver chooses. A collective's kernel reads from other GPUs where it can
// reach them.
//
// Cost: per message, about six CUDA calls of a microsecond each, on two threads. Blocks only in
// cudaMalloc. Thread safety: as a DataPlane. Errors: CudaError, OutOfMemory.
#pragma once

#include <cstdint>
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
  /// Frees all ranks' memory, once all ranks have left: in a failed run, a rank's stream may still
  /// hold work on another rank's memory that no rank waits for.
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
  /// Only the rank's own thread accesses it, until all have left.
  struct Rank {
    std::unique_ptr<RankDevice> gpu;
    bool done = true;            // its streams are idle
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
