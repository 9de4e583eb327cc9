// Ranks that share GPUs: the sandbox's engine, with tensors in device memory.
//
// The sandbox (sim/data_plane.h) does matching, deadlocks, verdicts, traces and virtual time. This
// class moves the data. All ranks on a GPU enqueue their work on one stream, so a message is a copy
// that the rank that arrives second enqueues. Calls return when their work is enqueued, as NCCL's
// do. What runs at the same time is decided on the stream: small operations that are independent
// run at once (gpu/device/shared_stream.h), large ones one after the other, each on the whole GPU.
//
// Measurements: the ranks' kernels and copies share one memory, so sizes that are bound by memory
// show the traffic that an algorithm causes. Within one GPU no link is measured.
//
// Ranks may be spread over several GPUs, in order. A copy between two of them crosses their link,
// or the host, as the driver chooses; events order it after the present work of both. The kernel of
// a collective reads from other GPUs where it can reach them.
//
// Cost: a small message within a GPU is an entry in a list; a large one is one CUDA call. Blocks
// where memory does not suffice, or where the GPU is some hundred calls behind. Thread safety: as a
// DataPlane. Errors: CudaError, OutOfMemory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/slice.h"
#include "gpu/device/rank_device.h"
#include "gpu/device/shared_stream.h"
#include "sim/data_plane.h"

namespace rankbox {

/// An operation in flight: whose it is, and where the data of a buffered send is.
struct sim::DataPlane::Transit {
  int rank = -1;
  int device = -1;
  void* copied = nullptr;
};

namespace gpu {

class SharedPlane final : public sim::DataPlane {
 public:
  /// @param devices [rank]
  /// @param deadline_seconds for every wait of a rank for its stream
  SharedPlane(std::vector<int> devices, double deadline_seconds);
  ~SharedPlane() override;

  void enter(int rank) override;
  void leave(int rank) noexcept override;
  Transit* prepare(int rank) override;
  Transit* prepare_copy(int rank, Slice slice, void** data) override;
  void copy(Side to, Side from, std::int64_t bytes, const Transit* mine) override;
  void run(std::span<const Part> parts, const Transit* mine) override;
  void discard(Transit* transit) noexcept override;

 private:
  /// Only the rank's own thread changes it.
  struct Rank {
    std::unique_ptr<RankDevice> gpu;
    Transit transit;             // of all its operations but buffered sends
    bool done = true;            // its work has ended
    std::vector<int> reachable;  // devices whose memory its kernels can use
  };

  Rank& state_of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  SharedStream& stream_of(const Transit& transit);
  int holder_of(const Side& side) const;

  const std::vector<int> devices_;  // [rank]
  const bool has_several_;          // the machine has several devices
  const double deadline_seconds_;
  std::vector<Rank> ranks_;
};

}  // namespace gpu
}  // namespace rankbox
