#include "sim/collective/collective.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "sim/group.h"
#include "sim/rank_state.h"
#include "sim/wait.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

// Below this many bytes per rank, waking another core costs more than its help is worth.
constexpr std::int64_t kHelpFromBytes = 32 * 1024;
// Large enough to amortize claiming it, small enough that the last parts finish together.
constexpr std::int64_t kPartBytes = 128 * 1024;

std::string describe_part(const CollectiveOperation& part, const Group& group) {
  const int root = part.call.root < 0 ? -1 : group.world_rank(part.call.root);
  return in_words(part.call, part.operation.owner->rank, root, part.operation.place);
}

}  // namespace

CollectiveJob::CollectiveJob(Group& group)
    : group_(group), participants_(static_cast<std::size_t>(group.size()), nullptr) {}

void CollectiveJob::reset() {
  arrived_ = 0;
  first_ = nullptr;
  mismatch_.clear();
  std::fill(participants_.begin(), participants_.end(), nullptr);
  parts_ = 1;
  next_part_.store(0, std::memory_order_relaxed);
  parts_done_.store(0, std::memory_order_relaxed);
  failed_.store(false, std::memory_order_relaxed);
}

bool CollectiveJob::arrive(int index, CollectiveOperation& operation) {
  participants_[static_cast<std::size_t>(index)] = &operation;
  ++arrived_;
  enter();
  if (first_ == nullptr) {
    first_ = &operation;
  } else if (mismatch_.empty()) {
    const std::string fields = differences(first_->call, operation.call);
    if (!fields.empty()) {
      // All earlier ranks agree; the lowest of them is reported.
      const CollectiveOperation* other =
          *std::find_if(participants_.begin(), participants_.end(),
                        [&](auto* at) { return at != nullptr && at != &operation; });
      const bool in_order = other->operation.owner->rank < operation.operation.owner->rank;
      const std::string where = group_.in_words();
      mismatch_ = fmt::format("collective mismatch in {}: {}, but {}{}", fields,
                              describe_part(in_order ? *other : operation, group_),
                              describe_part(in_order ? operation : *other, group_),
                              where.empty() ? "" : where + " (the ranks are the world's)");
    }
  }
  return arrived_ == group_.size();
}

std::vector<CollectiveOperation*> CollectiveJob::take_arrived() {
  std::vector<CollectiveOperation*> arrived;
  for (CollectiveOperation*& participant : participants_) {
    if (participant != nullptr) arrived.push_back(std::exchange(participant, nullptr));
  }
  return arrived;
}

bool CollectiveJob::withdraw(const CollectiveOperation& operation) {
  for (CollectiveOperation*& participant : participants_) {
    if (participant != &operation) continue;
    participant = nullptr;
    --arrived_;
    if (first_ == &operation) {
      const auto other = std::find_if(participants_.begin(), participants_.end(),
                                      [](auto* at) { return at != nullptr; });
      first_ = other == participants_.end() ? nullptr : *other;
    }
    return true;
  }
  return false;
}

void CollectiveJob::stop() {
  for (CollectiveOperation* participant : take_arrived()) {
    participant->operation.outcome.store(Outcome::kStopped, std::memory_order_relaxed);
    complete(participant->operation);
  }
}

void CollectiveJob::run(int index) {
  DataPlane* const data_plane = group_.world().data_plane();
  if (data_plane != nullptr && moves_data(first_->call.kind)) [[unlikely]]
    return run_on_device(*data_plane, index);
  std::int64_t bytes = 0;  // of the largest contribution or result
  for (const CollectiveOperation* participant : participants_) {
    bytes = std::max({bytes, participant->call.in.bytes(), participant->call.out.bytes()});
  }
  const std::int64_t work = bytes * group_.size();
  if (group_.size() == 1 || work < kHelpFromBytes) {
    run_part(0);
    finish();
    return;
  }
  parts_ = static_cast<int>(std::clamp<std::int64_t>(work / kPartBytes, 2, 256));

  // One helper per other core: more would only take turns.
  int helpers = std::min(static_cast<int>(std::thread::hardware_concurrency()), group_.size()) - 1;
  // This rank keeps one part until it has asked all helpers: before that, no rank can finish the
  // job and destroy its operations.
  const int mine = next_part_.fetch_add(1);
  const Executor& executor = group_.world().executor();
  const RankState* self = current_rank();  // null on a thread that a rank's program started
  const int my_lane = self == nullptr ? -1 : executor.lane(self->rank);
  int last_lane = my_lane;  // neighbours usually share one
  for (CollectiveOperation* participant : participants_) {
    if (helpers == 0) break;
    const int lane = executor.lane(participant->operation.owner->rank);
    if (!participant->can_help || lane == my_lane || lane == last_lane) continue;
    ask_for_help(participant->operation);
    last_lane = lane;
    --helpers;
  }
  run_part(mine);
  if (parts_done_.fetch_add(1) + 1 == parts_) {
    finish();
  } else {
    help();
  }
}

void CollectiveJob::help() {
  for (int part = next_part_.fetch_add(1); part < parts_; part = next_part_.fetch_add(1)) {
    run_part(part);
    if (parts_done_.fetch_add(1) + 1 == parts_) finish();
  }
}

void CollectiveJob::run_part(int part) {
  try {
    run_collective_part(participants_, part, parts_);
  } catch (...) {
    stop_world(std::current_exception());  // usually out of memory
  }
}

void CollectiveJob::run_on_device(DataPlane& data_plane, int index) {
  try {
    std::vector<DataPlane::Part> parts;
    for (const CollectiveOperation* participant : participants_)
      parts.push_back({&participant->call, participant->operation.transit});
    data_plane.run(parts, parts[static_cast<std::size_t>(index)].transit);
  } catch (...) {
    stop_world(std::current_exception());
  }
  finish();
}

/// Every rank of the group is waiting for this job, and must be completed.
void CollectiveJob::stop_world(std::exception_ptr cause) {
  group_.world().stop(std::move(cause));
  failed_.store(true);
}

void CollectiveJob::finish() {
  const Outcome outcome = failed_.load() ? Outcome::kStopped : Outcome::kOk;
  for (CollectiveOperation* participant : participants_) {
    participant->operation.outcome.store(outcome, std::memory_order_relaxed);
    complete(participant->operation);
  }
}

}  // namespace rankbox::sim
