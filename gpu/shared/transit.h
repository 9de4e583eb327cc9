// An operation in flight between ranks that share GPUs.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/shared/events.h"
#include "gpu/shared/staging.h"
#include "sim/data_plane.h"

namespace rankbox {

/// Filled in by its rank, except `done`, which the rank that moves the data sets before the sandbox
/// completes the operation.
struct sim::DataPlane::Transit {
  int rank = -1;
  int device = -1;
  cudaStream_t stream = nullptr;  // its rank's stream for the copy
  // A stream other than that of the rank's other work: each has to wait for the other.
  bool aside = false;
  gpu::SharedEvents::Mark* ready = nullptr;  // the rank's other work so far
  gpu::SharedEvents::Mark* done = nullptr;   // the copy, unless `stream` orders it
  gpu::SharedStaging::Block copied;          // the data of a buffered send
};

namespace gpu {

/// A pool of transits, owned by the run, so that creating one does not allocate. Thread safety: any
/// thread.
class SharedTransits {
 public:
  sim::DataPlane::Transit* take() {
    std::lock_guard guard(lock_);
    if (unused_.empty()) {
      unused_.reserve(all_.size() + 1);  // so that give_back() cannot fail
      return &all_.emplace_back();
    }
    sim::DataPlane::Transit* const transit = unused_.back();
    unused_.pop_back();
    return transit;
  }
  void give_back(sim::DataPlane::Transit* transit) noexcept {
    *transit = {};
    std::lock_guard guard(lock_);
    unused_.push_back(transit);
  }

 private:
  std::mutex lock_;
  std::deque<sim::DataPlane::Transit> all_;
  std::vector<sim::DataPlane::Transit*> unused_;
};

}  // namespace gpu
}  // namespace rankbox
