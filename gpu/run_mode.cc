#include "gpu/run_mode.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include <fmt/format.h>
#include <nccl.h>

#include "comm/errors.h"
#include "gpu/device/devices.h"
#include "gpu/launch/rank_variables.h"

namespace rankbox::gpu {
namespace {

constexpr const char* kModeVariable = "RANKBOX_GPU_MODE";
constexpr const char* kSharingVariable = "NCCL_MULTI_RANK_GPU_ENABLE";
constexpr int kFirstToShare = 23003;  // the version of NCCL that knows it, 2.30.3
constexpr int kMostSharing = 2;       // ranks for which NCCL's share of a GPU suffices

std::string variable(const char* name) {
  return launcher::process_environment()(name).value_or("");
}

std::string gpus_in_words(int count) {
  return fmt::format("{} GPU{}", count, count == 1 ? "" : "s");
}

std::string sharing_in_words(int world_size) {
  const auto used = devices_used(world_size);
  return fmt::format("{} rank{} {} {}: {}", world_size, world_size == 1 ? "" : "s",
                     used < world_size ? "share" : "on", gpus_in_words(used),
                     used == 1 ? "messages are copies within its memory; no link is measured"
                               : "messages are copies, by the driver where they cross a link "
                                 "between GPUs; NCCL is not measured");
}

std::string in_words(RunMode mode, int world_size) {
  switch (mode) {
    case RunMode::kProcesses: {
      const auto& who = launcher::launched();
      return fmt::format("{} ranks, a process each, started by {}; NCCL between them", world_size,
                         who->launcher);
    }
    case RunMode::kThreads:
      if (devices_used(world_size) < world_size)
        return fmt::format("{} ranks, a thread each, share {}; NCCL between them", world_size,
                           gpus_in_words(devices_used(world_size)));
      return fmt::format("{} rank{}, a GPU and a thread each; NCCL between them", world_size,
                         world_size == 1 ? "" : "s");
    case RunMode::kShared:
      return sharing_in_words(world_size);
  }
  return "";
}

/// Returns whether NCCL is asked to let ranks share a GPU, and knows how.
bool nccl_lets_ranks_share() {
  int version = 0;
  return variable(kSharingVariable) == "1" && ncclGetVersion(&version) == ncclSuccess &&
         version >= kFirstToShare;
}

}  // namespace

RunMode choose_mode(int world_size) {
  const std::string asked = variable(kModeVariable);
  const bool wants_nccl = asked == "nccl";
  const bool wants_shared = asked == "shared";
  if (!wants_nccl && !wants_shared && !asked.empty() && asked != "auto") {
    throw InvalidArgument(
        fmt::format("{}='{}' should be nccl, shared or auto", kModeVariable, asked));
  }
  if (const auto& who = launcher::launched()) {
    if (!wants_shared) return RunMode::kProcesses;
    throw InvalidArgument(fmt::format(
        "{}={}, but {} started {} processes, and processes share no memory: start one, whose "
        "ranks are threads; or unset {}",
        kModeVariable, asked, who->launcher, who->world_size, kModeVariable));
  }
  const int devices = device_count();
  const bool nccl_shares = nccl_lets_ranks_share();
  if (wants_nccl && devices < world_size && !nccl_shares) {
    throw InvalidArgument(fmt::format(
        "{}=nccl, but {} ranks need a GPU each, and there {} {}: use fewer ranks, or unset {} and "
        "let them share",
        kModeVariable, world_size, devices == 1 ? "is" : "are", gpus_in_words(devices),
        kModeVariable));
  }
  const bool fits = wants_nccl || world_size <= devices * (nccl_shares ? kMostSharing : 1);
  return wants_shared || !fits ? RunMode::kShared : RunMode::kThreads;
}

int devices_used(int world_size) { return std::min(world_size, device_count()); }

std::vector<int> assign_devices(int world_size) {
  const auto devices = static_cast<std::int64_t>(device_count());
  std::vector<int> assigned;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    // With a GPU for every rank, rank r has GPU r; with fewer, neighbours share one.
    assigned.push_back(
        static_cast<int>(devices >= world_size ? rank : rank * devices / world_size));
  }
  return assigned;
}

std::string describe_world(int world_size) {
  std::string lines;
  try {
    lines = in_words(choose_mode(world_size), world_size) + "\n";
  } catch (const Error& error) {
    return fmt::format("no world of {} ranks: {}\n", world_size, error.what());
  }
  return lines + describe_devices() + fmt::format("NCCL: {}\n", nccl_version());
}

void note_sharing(int world_size) {
  static std::atomic<bool> noted{false};
  if (noted.exchange(true) || variable("RANKBOX_GPU_NOTICE") == "0") return;
  fmt::print(stderr, "rankbox: {} (RANKBOX_GPU_NOTICE=0 hides this line)\n",
             sharing_in_words(world_size));
}

std::string nccl_version() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return "unknown";
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace rankbox::gpu
