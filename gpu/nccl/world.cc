#include "gpu/nccl/world.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "comm/rank_failure.h"
#include "gpu/nccl/error.h"

namespace rankbox::gpu {
namespace {

void check_settings(const NcclSettings& settings) {
  const int size = settings.world_size;
  if (size < 1) {
    throw InvalidArgument(fmt::format("world size {} is out of range: use at least 1", size));
  }
  for (const int rank : settings.local_ranks) {
    if (rank < 0 || rank >= size) {
      throw InvalidArgument(fmt::format(
          "rank {} does not exist: ranks are 0 to {} in a world of {}", rank, size - 1, size));
    }
  }
  if (!settings.local_ranks.empty() && static_cast<int>(settings.local_ranks.size()) < size &&
      !settings.id.has_value()) {
    throw InvalidArgument("ranks of several processes need one id for all: use make_id() once");
  }
  if (!settings.nodes.empty() && static_cast<int>(settings.nodes.size()) != size) {
    throw InvalidArgument(
        fmt::format("nodes are given for {} ranks in a world of {}", settings.nodes.size(), size));
  }
  for (const double seconds : {settings.deadline_seconds, settings.start_seconds}) {
    if (seconds > 0) continue;
    throw InvalidArgument(fmt::format("deadline {} s is out of range: use more than 0", seconds));
  }
}

/// Has NCCL connect every algorithm when a communicator is created, unless the user decides. By
/// default it does so in the first call that selects the algorithm, which may be one that is timed,
/// or one in which a rank of a failed run hangs.
void connect_at_start() { setenv("NCCL_RUNTIME_CONNECT", "0", /*overwrite=*/0); }

}  // namespace

std::string call_in_words(const Caller& caller) {
  if (caller.place.line() == 0) return caller.operation;
  return fmt::format("{} at {}:{}", caller.operation, caller.place.file_name(),
                     caller.place.line());
}

ncclUniqueId NcclWorld::make_id() {
  connect_at_start();
  ncclUniqueId id;
  check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId", {.op = "start"});
  return id;
}

NcclWorld::NcclWorld(NcclSettings settings) : settings_(std::move(settings)) {
  check_settings(settings_);
  connect_at_start();
  const auto size = static_cast<std::size_t>(settings_.world_size);
  if (settings_.local_ranks.empty()) {
    settings_.local_ranks.resize(size);
    std::iota(settings_.local_ranks.begin(), settings_.local_ranks.end(), 0);
  }
  if (settings_.nodes.empty()) settings_.nodes.resize(size, 0);
  if (!settings_.id.has_value()) settings_.id = make_id();
}

int NcclWorld::local_rank_of(int rank) const {
  const auto begin = settings_.nodes.begin();
  return static_cast<int>(std::count(begin, begin + rank, node_of(rank)));
}

void NcclWorld::stop(std::exception_ptr cause) {
  const std::lock_guard guard(lock_);
  if (cause_ != nullptr) return;
  cause_ = std::move(cause);
  stopped_.store(true, std::memory_order_release);
}

std::exception_ptr NcclWorld::cause() const {
  const std::lock_guard guard(lock_);
  return cause_;
}

void NcclWorld::throw_stopped(const Caller& caller) const {
  throw Aborted(fmt::format("rank {} was stopped in {}, because {}", caller.rank,
                            call_in_words(caller), what_of(cause())),
                caller.context());
}

}  // namespace rankbox::gpu
