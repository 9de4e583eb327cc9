// Runs those ranks of a world on NCCL that are this process's: a thread and a GPU each.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/communicator.h"
#include "gpu/nccl/world.h"

namespace rankbox::gpu {

/// How it went, for the ranks of this process.
struct NcclOutcome {
  double wall_seconds = 0;  // from the start of the first rank's function to the end of the last's
  std::int64_t messages = 0;             // sent
  std::int64_t bytes = 0;                // sent
  std::vector<std::int64_t> peak_bytes;  // by local rank, in their order
};

/// Calls `body` on every local rank, and returns when all have ended, whatever became of them:
/// world.cause() tells.
/// @param devices of the local ranks, in their order
/// @param faults planned ones
NcclOutcome run_on_nccl(NcclWorld& world, const std::vector<int>& devices,
                        const std::vector<Fault>& faults,
                        const std::function<void(Communicator&)>& body);

}  // namespace rankbox::gpu
