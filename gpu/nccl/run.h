// Runs those ranks of a world on NCCL that are this process's: a thread and a GPU each.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/communicator.h"
#include "gpu/nccl/failure.h"
#include "gpu/nccl/world.h"

namespace rankbox::gpu {

/// How it went, for the ranks of this process, in their order.
struct NcclOutcome {
  double wall_seconds = 0;  // from the start of the first rank's function to the end of the last's
  std::int64_t messages = 0;             // sent
  std::int64_t bytes = 0;                // sent
  std::vector<std::int64_t> peak_bytes;  // [local rank]
  std::vector<RankEnd> ends;             // [local rank]
};

/// Calls `body` on every local rank, and returns when all have ended, failed or not.
/// @param devices [local rank]
NcclOutcome run_on_nccl(NcclWorld& world, const std::vector<int>& devices,
                        const std::function<void(Communicator&)>& body);

}  // namespace rankbox::gpu
