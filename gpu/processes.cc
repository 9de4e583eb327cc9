#include "gpu/processes.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "comm/error_bytes.h"
#include "comm/errors.h"
#include "comm/rank_failure.h"
#include "comm/result_bytes.h"
#include "gpu/device/devices.h"
#include "gpu/device_here.h"
#include "gpu/launch/endpoint.h"
#include "gpu/launch/rank_variables.h"

namespace rankbox::gpu {
namespace {

constexpr double kGrace = 5;  // seconds, after the deadline of all ranks

constexpr const char* kShareVariable = "RANKBOX_NCCL_SHARE_GPU";

bool is_set(const char* variable) {
  const auto value = launcher::process_environment()(variable);
  return value.has_value() && *value != "0";
}

/// Returns the host without its boot id.
std::string name_of_host(const std::string& host) { return host.substr(0, host.find(' ')); }

}  // namespace

Processes::Processes(double seconds)
    : group_(*launcher::launched(), launcher::endpoint_of_rank_0(*launcher::launched()), seconds) {
  using Fields = std::tuple<std::string, std::string, std::string, int>;
  const Gpu mine = choose_gpu(exchange(launcher::this_host(), seconds));
  for (const std::string& bytes :
       exchange(to_bytes(Fields(mine.host, mine.bus_id, mine.error, mine.device)), seconds)) {
    auto [host, bus_id, error, device] = from_bytes<Fields>(bytes);
    gpus_.push_back({std::move(host), std::move(bus_id), std::move(error), device});
  }
  set_default_device(device());
  if (is_set(kShareVariable) && !sharing_ranks(world_size()).empty()) prepare_sharing();
}

std::vector<std::string> Processes::exchange(const std::string& mine, double seconds) {
  auto all = group_.all_gather(mine, seconds);
  if (all.problem) std::rethrow_exception(all.problem);
  std::vector<std::string> bytes;
  for (auto& each : all.bytes) bytes.push_back(std::move(*each));
  return bytes;
}

Processes::Gpu Processes::choose_gpu(const std::vector<std::string>& hosts) const {
  const auto me = hosts.begin() + rank();
  Gpu gpu;
  gpu.host = *me;
  int local_rank = launcher::launched()->local_rank;
  if (local_rank < 0) local_rank = static_cast<int>(std::count(hosts.begin(), me, *me));
  try {
    // If each process sees only one GPU, that is its own.
    gpu.device = local_rank % device_count();
    gpu.bus_id = device_info(gpu.device).bus_id;
  } catch (...) {
    gpu.error = error_to_bytes(with_rank(std::current_exception(), rank()));
  }
  return gpu;
}

int Processes::device() const { return gpus_[static_cast<std::size_t>(rank())].device; }

int Processes::sharers(int world_size) const {
  const Gpu& mine = gpus_[static_cast<std::size_t>(rank())];
  return static_cast<int>(std::count_if(gpus_.begin(), gpus_.begin() + world_size,
                                        [&](const Gpu& gpu) { return gpu.is_same(mine); }));
}

/// Numbers the nodes by their first ranks.
std::vector<int> Processes::nodes(int world_size) const {
  std::vector<int> nodes;
  std::vector<std::string> hosts;  // [node]
  for (int rank = 0; rank < world_size; ++rank) {
    const std::string& host = gpus_[static_cast<std::size_t>(rank)].host;
    const auto found = std::find(hosts.begin(), hosts.end(), host);
    nodes.push_back(static_cast<int>(found - hosts.begin()));
    if (found == hosts.end()) hosts.push_back(host);
  }
  return nodes;
}

/// Returns the first two ranks of a world of that size that share a GPU; empty if there are none.
std::vector<int> Processes::sharing_ranks(int world_size) const {
  for (int b = 0; b < world_size; ++b) {
    for (int a = 0; a < b; ++a) {
      const Gpu& first = gpus_[static_cast<std::size_t>(a)];
      const Gpu& second = gpus_[static_cast<std::size_t>(b)];
      if (first.is_same(second)) return {a, b};
    }
  }
  return {};
}

/// NCCL treats processes with different NCCL_HOSTIDs as on different machines, and requires a
/// network between them. Variables that are set already stay.
void Processes::prepare_sharing() const {
  const auto set = [](const char* variable, const std::string& value) {
    setenv(variable, value.c_str(), /*overwrite=*/0);
  };
  const std::string& host = gpus_[static_cast<std::size_t>(rank())].host;
  set("NCCL_HOSTID", fmt::format("rankbox-{}-{}", name_of_host(host), rank()));
  set("NCCL_NET", "Socket");
  set("NCCL_P2P_DISABLE", "1");
  set("NCCL_SHM_DISABLE", "1");
  const bool one_machine =
      std::all_of(gpus_.begin(), gpus_.end(), [&](const Gpu& gpu) { return gpu.host == host; });
  if (one_machine) set("NCCL_SOCKET_IFNAME", "lo");
}

void Processes::check_gpus(int world_size) const {
  for (int rank = 0; rank < world_size; ++rank) {
    const std::string& error = gpus_[static_cast<std::size_t>(rank)].error;
    if (!error.empty()) std::rethrow_exception(error_from_bytes(error));
  }
  const std::vector<int> two = sharing_ranks(world_size);
  if (two.empty() || is_set(kShareVariable) || is_set("NCCL_MULTI_RANK_GPU_ENABLE")) return;
  const Gpu& gpu = gpus_[static_cast<std::size_t>(two[0])];
  throw InvalidArgument(fmt::format(
      "ranks {} and {} are processes that share GPU {} of {}, but NCCL requires a GPU for each: "
      "start a single process without a launcher, whose ranks share GPUs as threads; or set {}=1, "
      "and NCCL runs over sockets (to test that it works, not to take times)",
      two[0], two[1], gpu.bus_id, name_of_host(gpu.host), kShareVariable));
}

std::string Processes::start_run(int world_size, const std::function<std::string()>& make_id,
                                 double seconds) {
  using Start = std::tuple<int, std::string, std::string>;  // world size, id, error
  Start mine(world_size, "", "");
  try {
    check_gpus(world_size);
    if (rank() == 0) std::get<1>(mine) = make_id();
  } catch (...) {
    std::get<2>(mine) = error_to_bytes(std::current_exception());
  }
  const std::vector<std::string> all = exchange(to_bytes(mine), seconds);
  const auto [size_of_0, id, error] = from_bytes<Start>(all[0]);
  for (std::size_t other = 1; other < all.size(); ++other) {
    const int size = std::get<0>(from_bytes<Start>(all[other]));
    if (size == size_of_0) continue;
    throw InvalidArgument(
        fmt::format("process 0 runs a world of {} ranks, but process {} one of {}: call run_ranks "
                    "with the same options in all processes",
                    size_of_0, other, size));
  }
  if (!error.empty()) std::rethrow_exception(error_from_bytes(error));
  return id;
}

launcher::ProcessGroup::Gathered Processes::end_run(const std::string& mine, bool failed,
                                                    double deadline_seconds) {
  // A run may take any time: every wait in it has its own deadline.
  return group_.all_gather(mine, failed ? deadline_seconds + kGrace : kAnyTime);
}

}  // namespace rankbox::gpu
