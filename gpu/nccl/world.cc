#include "gpu/nccl/world.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "gpu/nccl/error.h"

namespace rankbox::gpu {
namespace {

std::string what_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown exception";
  }
}

void check(const NcclSettings& settings) {
  const int size = settings.world_size;
  if (size < 1) {
    throw InvalidArgument(
        fmt::format("world size {} is impossible: at least 1 rank is needed", size));
  }
  for (const int rank : settings.local_ranks) {
    if (rank < 0 || rank >= size) {
      throw InvalidArgument(fmt::format(
          "rank {} does not exist: ranks are 0 to {} in a world of {}", rank, size - 1, size));
    }
  }
  if (!settings.local_ranks.empty() && static_cast<int>(settings.local_ranks.size()) < size &&
      !settings.id.has_value()) {
    throw InvalidArgument("ranks of other processes can only be found with an id that all know");
  }
  if (!settings.nodes.empty() && static_cast<int>(settings.nodes.size()) != size) {
    throw InvalidArgument(
        fmt::format("nodes are given for {} ranks in a world of {}", settings.nodes.size(), size));
  }
  if (!(settings.deadline_seconds > 0)) {
    throw InvalidArgument(fmt::format("a deadline of {} s is impossible: more than 0 is needed",
                                      settings.deadline_seconds));
  }
}

/// As the rank of `caller`, which is concerned, is told: with its own call, if that is a message.
std::exception_ptr error_of(const Conflict& conflict, const Caller& caller) {
  for (const ErrorContext& message : conflict.messages) {
    if (message.rank == caller.rank)
      return std::make_exception_ptr(MessageMismatch(conflict.text, message));
  }
  return std::make_exception_ptr(CollectiveMismatch(conflict.text, caller.context()));
}

}  // namespace

std::string call_in_words(const Caller& caller) {
  if (caller.place.line() == 0) return caller.operation;
  return fmt::format("{} at {}:{}", caller.operation, caller.place.file_name(),
                     caller.place.line());
}

ncclUniqueId NcclWorld::make_id() {
  ncclUniqueId id;
  check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId", {.op = "start"});
  return id;
}

NcclWorld::NcclWorld(NcclSettings settings) : settings_(std::move(settings)) {
  check(settings_);
  const auto size = static_cast<std::size_t>(settings_.world_size);
  if (settings_.local_ranks.empty()) {
    settings_.local_ranks.resize(size);
    std::iota(settings_.local_ranks.begin(), settings_.local_ranks.end(), 0);
  }
  if (settings_.nodes.empty()) settings_.nodes.resize(size, 0);
  if (!settings_.id.has_value()) settings_.id = make_id();
  local_.resize(size, false);
  for (const int rank : settings_.local_ranks) local_[static_cast<std::size_t>(rank)] = true;
  arrived_.resize(size, false);
  returned_.resize(size, false);
}

int NcclWorld::node_of(int rank) const { return settings_.nodes[static_cast<std::size_t>(rank)]; }

int NcclWorld::local_rank_of(int rank) const {
  const auto begin = settings_.nodes.begin();
  return static_cast<int>(std::count(begin, begin + rank, node_of(rank)));
}

NcclGroup& NcclWorld::group(const std::vector<int>& path, const std::vector<int>& members) {
  const std::lock_guard guard(lock_);
  std::unique_ptr<NcclGroup>& group = groups_[path];
  if (group == nullptr) {
    std::vector<bool> local;
    for (const int rank : members) local.push_back(is_local(rank));
    group = std::make_unique<NcclGroup>(members, std::move(local), path);
  }
  return *group;
}

void NcclWorld::stop_for(Cause cause) {
  {
    const std::lock_guard guard(lock_);
    if (cause_.error != nullptr) return;
    cause_ = std::move(cause);
  }
  if (settings_.on_failure) {
    try {
      settings_.on_failure(cause_.error);
    } catch (...) {  // there is a failure already
    }
  }
  stopped_.store(true, std::memory_order_release);
}

void NcclWorld::stop(std::exception_ptr cause) { stop_for({.error = std::move(cause)}); }

void NcclWorld::stop(const Conflict& conflict, const Caller& caller) {
  stop_for({.error = error_of(conflict, caller), .conflict = conflict});
}

std::exception_ptr NcclWorld::cause() const {
  const std::lock_guard guard(lock_);
  return cause_.error;
}

void NcclWorld::throw_stopped(const Caller& caller) const {
  const std::lock_guard guard(lock_);
  const std::vector<int>& concerned = cause_.conflict.ranks;
  if (std::find(concerned.begin(), concerned.end(), caller.rank) != concerned.end())
    std::rethrow_exception(error_of(cause_.conflict, caller));
  const DeadlockError* const deadlock = cause_.deadlock.get();
  if (deadlock != nullptr && deadlock->waits().front().rank == caller.rank) {
    throw deadlock->as_seen_by(caller.context(deadlock->waits().front().peers.front()));
  }
  throw Aborted(fmt::format("rank {} was stopped in {}, because {}", caller.rank,
                            call_in_words(caller), what_of(cause_.error)),
                caller.context());
}

void NcclWorld::stop_for(const Orphan& orphan) {
  const Wait& wait = orphan.wait;
  const int returned = wait.peers.front();
  const ErrorContext context{wait.rank, wait.op, returned, wait.file, wait.line};
  const auto deadlock = std::make_shared<const DeadlockError>(
      fmt::format("deadlock: {}, but rank {} has returned; hint: a rank returned too early, or its "
                  "peers expect one call too many",
                  orphan.text, returned),
      context, std::vector<Wait>{wait}, std::vector<int>{wait.rank, returned});
  stop_for({.error = std::make_exception_ptr(*deadlock), .deadlock = deadlock});
}

void NcclWorld::leave(int rank) {
  std::vector<const NcclGroup*> groups;
  {
    const std::lock_guard guard(lock_);
    returned_[static_cast<std::size_t>(rank)] = true;
    for (const auto& [path, group] : groups_) groups.push_back(group.get());
  }
  // First the mark, then the look; a call posts first and looks at the marks then. One of the two
  // sees the other.
  returned_count_.fetch_add(1);
  for (const NcclGroup* group : groups) {
    if (const std::optional<Orphan> orphan = group->orphan_of(rank)) return stop_for(*orphan);
  }
}

void NcclWorld::check_returned(const NcclGroup& group) {
  if (returned_count_.load() == 0) [[likely]]
    return;
  std::vector<bool> returned;
  {
    const std::lock_guard guard(lock_);
    returned = returned_;
  }
  for (const int rank : group.members()) {
    if (!returned[static_cast<std::size_t>(rank)]) continue;
    if (const std::optional<Orphan> orphan = group.orphan_of(rank)) return stop_for(*orphan);
  }
}

void NcclWorld::add(FlightRecorder& recorder) {
  const std::lock_guard guard(lock_);
  recorders_.push_back(&recorder);
}

void NcclWorld::remove(FlightRecorder& recorder) {
  const std::lock_guard guard(lock_);
  recorders_.erase(std::remove(recorders_.begin(), recorders_.end(), &recorder), recorders_.end());
}

std::string NcclWorld::flights() const {
  const std::lock_guard guard(lock_);
  std::vector<FlightRecorder*> by_rank = recorders_;
  std::sort(by_rank.begin(), by_rank.end(),
            [](const auto* a, const auto* b) { return a->rank() < b->rank(); });
  std::string text;
  for (FlightRecorder* recorder : by_rank) text += recorder->to_text();
  return text;
}

void NcclWorld::note_arrival(int rank) {
  const std::lock_guard guard(lock_);
  arrived_[static_cast<std::size_t>(rank)] = true;
}

std::string NcclWorld::missing_in_words() const {
  const std::lock_guard guard(lock_);
  std::string ranks;
  int missing = 0;
  for (const int rank : settings_.local_ranks) {
    if (arrived_[static_cast<std::size_t>(rank)]) continue;
    ranks += fmt::format("{}{}", missing++ == 0 ? "" : ", ", rank);
  }
  if (missing == 0) return "";
  return fmt::format("{} {} of this process {} not come", missing == 1 ? "rank" : "ranks", ranks,
                     missing == 1 ? "has" : "have");
}

}  // namespace rankbox::gpu
