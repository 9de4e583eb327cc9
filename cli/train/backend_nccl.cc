// The NCCL backend: each rank has a GPU, or ranks share GPUs.
#include <fmt/format.h>

#include "cli/train/backend.h"
#include "comm/errors.h"
#include "gpu/device/devices.h"
#include "gpu/run_mode.h"

namespace rankbox::train {

const char* backend_name() { return "nccl"; }

std::string what_ranks_are(int ranks) {
  switch (gpu::choose_mode(ranks)) {
    case gpu::RunMode::kProcesses:
      return "a process and a GPU each";
    case gpu::RunMode::kThreads:
      return "a GPU each";
    case gpu::RunMode::kShared:
      return fmt::format("threads that share {} GPU{}", gpu::device_count(),
                         gpu::device_count() == 1 ? "" : "s");
  }
  return "";
}

void place(const Placement& typed, Plan& plan) {
  if (!typed.nodes.empty()) {
    throw InvalidArgument(
        fmt::format("--nodes {}: with NCCL, a launcher places the processes; start one per GPU: "
                    "torchrun --no-python --nnodes 2 --nproc-per-node 8 rankbox-train-nccl ...",
                    typed.nodes));
  }
  if (!typed.cluster.empty()) {
    throw InvalidArgument(
        fmt::format("--cluster {}: with NCCL, time is real; only the sandbox simulates clusters: "
                    "leave out --backend nccl",
                    typed.cluster));
  }
  // Without a GPU this throws, before data are read.
  static_cast<void>(gpu::choose_mode(plan.ranks));
}

bool has_timeline() { return false; }

std::string draw_step(const Plan& /*plan*/, const Task& /*task*/,
                      const TimelineOptions& /*options*/) {
  return "";
}

}  // namespace rankbox::train
