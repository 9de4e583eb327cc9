// The NCCL backend: each rank has a GPU, or ranks share one.
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/compare/measure/backend.h"
#include "gpu/device/devices.h"
#include "gpu/device/rank_device.h"
#include "gpu/run_mode.h"

namespace rankbox::cli {
namespace {

std::string gpus() {
  std::string reason = gpu::why_no_device();
  if (!reason.empty()) return reason;
  const int count = gpu::device_count();
  return fmt::format("{} GPU{}", count, count == 1 ? "" : "s");
}

/// Accepts "Ring" and "RING": NCCL ignores case.
bool asks_for_ring(const char* algorithms) {
  std::string text = algorithms == nullptr ? "" : algorithms;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text == "ring";
}

}  // namespace

const char* backend_name() { return "nccl"; }

// The report's header already says that ranks share a GPU.
void prepare_process() { setenv("RANKBOX_GPU_NOTICE", "0", /*overwrite=*/0); }

std::string backend_line() {
  try {
    return fmt::format("nccl: NCCL {}, CUDA {}, driver for CUDA {}, {}", gpu::nccl_version(),
                       gpu::runtime_version(), gpu::driver_version(), gpus());
  } catch (const std::exception& error) {
    return fmt::format("nccl: {}", error.what());
  }
}

std::string world_line(int world_size) {
  const std::string lines = gpu::describe_world(world_size);
  return lines.substr(0, lines.find('\n'));
}

std::shared_ptr<const std::vector<Device>> devices_of(Comm& dist) {
  const gpu::DeviceInfo info = gpu::device_info(gpu::current_rank_device()->device());
  Device device = host_device();
  device.number = info.device;
  device.bus = info.bus_id;
  device.name = info.name;
  device.memory_bytes = info.memory_bytes;
  return std::make_shared<const std::vector<Device>>(gather_devices(dist, device));
}

int nodes_to_simulate(const Cluster& /*cluster*/, int /*world_size*/) { return 1; }

// One rank per GPU.
std::vector<int> default_ranks() {
  return {gpu::why_no_device().empty() ? std::max(gpu::device_count(), 1) : 1};
}

std::string default_cluster(int world_size) {
  try {
    return gpu::choose_mode(world_size) == gpu::RunMode::kShared ? "one-gpu" : "laptop";
  } catch (const Error&) {
    return "laptop";  // without a GPU the run itself reports it
  }
}

void judge_contest(Contest& /*contest*/, const Plan& /*plan*/,
                   const std::function<void(std::size_t job)>& /*starting*/) {}

void set_timed(Comm& dist, bool timed) {
  auto backend = dist.backend();
  backend.set_timed(timed);
}

void call_in_group(Comm& dist, const std::function<void()>& calls) {
  auto backend = dist.backend();
  backend.call_in_group(calls);
}

// NCCL may choose a tree or NVLS, which reduces in the switches; no program of sends and receives
// can match that. A ring is comparable with NCCL's ring.
std::vector<Baseline> default_baselines(int world_size) {
  // Ranks that share a GPU do not use NCCL's native collectives.
  if (gpu::choose_mode(world_size) == gpu::RunMode::kShared) return {};
  if (asks_for_ring(std::getenv("NCCL_ALGO"))) return {};
  return {{kNativeRing, {"NCCL_ALGO=RING"}}};
}

bool can_run_itself() { return true; }

}  // namespace rankbox::cli
