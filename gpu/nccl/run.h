// Runs this process's ranks of a world on NCCL: one thread and one GPU each.
#pragma once

#include <functional>
#include <vector>

#include "comm/run_options.h"
#include "gpu/communicator.h"
#include "gpu/nccl/failure.h"
#include "gpu/nccl/world.h"

namespace rankbox::gpu {

/// The outcome for the ranks of this process, in their order.
struct NcclOutcome {
  RunReport report;           // peak_bytes: [local rank]; without clocks, cost and trace
  std::vector<RankEnd> ends;  // [local rank]
};

/// Calls `body` on every local rank. Blocks until all have ended, failed or not.
/// @param devices [local rank]
NcclOutcome run_on_nccl(NcclWorld& world, const std::vector<int>& devices,
                        const std::function<void(Communicator&)>& body);

}  // namespace rankbox::gpu
