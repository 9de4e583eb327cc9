// The NCCL backend: each rank has a GPU, or ranks share GPUs.
#include <fmt/format.h>

#include "cli/train/backend.h"
#include "comm/errors.h"
#include "gpu/run_mode.h"

namespace rankbox::train {

const char* backend_name() { return "nccl"; }

std::string what_ranks_are(int ranks) {
  switch (gpu::choose_mode(ranks)) {
    case gpu::RunMode::kProcesses:
      return "a process and a GPU each";
    case gpu::RunMode::kThreads:
      return "a GPU each";
    case gpu::RunMode::kShared: {
      const int used = gpu::devices_used(ranks);
      return fmt::format("threads {} {} GPU{}", used < ranks ? "that share" : "on", used,
                         used == 1 ? "" : "s");
    }
  }
  return "";
}

void place(const Placement& typed, Plan& plan) {
  if (!typed.nodes.empty()) {
    throw InvalidArgument(
        fmt::format("--nodes {}: with NCCL, a launcher places the processes; start one per GPU: "
                    "torchrun --no-python --nnodes 2 --node-rank I --nproc-per-node 8 "
                    "--master-addr FIRST .rankbox/bin/rankbox-train-nccl ...",
                    typed.nodes));
  }
  if (!typed.cluster.empty()) {
    throw InvalidArgument(
        fmt::format("--cluster {}: with NCCL, time is real; only the sandbox simulates clusters: "
                    "leave out --backend nccl",
                    typed.cluster));
  }
  // Without a launcher this throws if there is no GPU, before data are read.
  static_cast<void>(gpu::choose_mode(plan.ranks));
}

bool has_timeline() { return false; }

std::string draw_step(const Plan& /*plan*/, const Task& /*task*/,
                      const TimelineOptions& /*options*/) {
  return "";
}

}  // namespace rankbox::train
