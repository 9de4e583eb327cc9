// Runs this process's ranks of a world on NCCL: one thread and one GPU each.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/communicator.h"
#include "gpu/nccl/failure.h"
#include "gpu/nccl/world.h"

namespace rankbox::gpu {

/// The outcome for the ranks of this process, in their order.
struct NcclOutcome {
  double wall_seconds = 0;               // from a rank function's first start to the last end
  std::int64_t messages = 0;             // sent
  std::int64_t bytes = 0;                // sent
  std::vector<std::int64_t> peak_bytes;  // [local rank]
  std::vector<RankEnd> ends;             // [local rank]
};

/// Calls `body` on every local rank. Blocks until all have ended, failed or not.
/// @param devices [local rank]
NcclOutcome run_on_nccl(NcclWorld& world, const std::vector<int>& devices,
                        const std::function<void(Communicator&)>& body);

}  // namespace rankbox::gpu
