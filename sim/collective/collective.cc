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
  differs_ = false;
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
  } else if (!differs_) {
    differs_ = !differences(first_->call, operation.call).empty();
  }
  return arrived_ == group_.size();
}

bool CollectiveJob::is_waited_for() const {
  return std::ranges::any_of(participants_, [](const CollectiveOperation* each) {
    return each != nullptr && each->operation.owner->waiting[0] == &each->operation;
  });
}

std::optional<CollectiveMismatch> CollectiveJob::mismatch() const {
  std::vector<const CollectiveOperation*> arrived;
  for (const CollectiveOperation* each : participants_)
    if (each != nullptr) arrived.push_back(each);
  std::ranges::sort(arrived, {}, [](const auto* each) { return each->operation.owner->rank; });
  const auto agrees_with = [](const CollectiveOperation* one) {
    return [one](const CollectiveOperation* other) {
      return differences(one->call, other->call).empty();
    };
  };
  // 1. The only call that most ranks may agree on: each other one takes one of its votes.
  const CollectiveOperation* usual = nullptr;
  std::ptrdiff_t votes = 0;
  for (const CollectiveOperation* each : arrived) {
    if (votes == 0) usual = each;
    votes += agrees_with(usual)(each) ? 1 : -1;
  }
  if (usual == nullptr) return std::nullopt;
  // 2. The lowest rank that differs from it. If most ranks agree on nothing, the lowest rank of all
  // comes first, and then the lowest that differs from that.
  const bool most_agree = 2 * std::ranges::count_if(arrived, agrees_with(usual)) >
                          static_cast<std::ptrdiff_t>(arrived.size());
  if (!most_agree) usual = arrived.front();
  const auto differs = std::ranges::find_if_not(arrived, agrees_with(usual));
  if (differs == arrived.end()) return std::nullopt;
  const CollectiveOperation* other = *differs;
  if (!most_agree) std::swap(usual, other);
  usual = *std::ranges::find_if(arrived, agrees_with(usual));
  // 3. Both in words.
  const std::ptrdiff_t others = std::ranges::count_if(arrived, agrees_with(usual)) - 1;
  const std::string where = group_.in_words();
  const Operation& first = other->operation;
  const std::string text = fmt::format("collective mismatch in {}: {}, but {}{}{}",
                                       differences(usual->call, other->call),
                                       describe_part(*other, group_), describe_part(*usual, group_),
                                       others > 0 ? fmt::format(", as do {} more", others) : "",
                                       where.empty() ? "" : where + " (the ranks are the world's)");
  return CollectiveMismatch(text, {first.owner->rank, name_of(other->call.kind), -1,
                                   first.place.file_name(), static_cast<int>(first.place.line())});
}

std::optional<CollectiveMismatch> CollectiveJob::piece_mismatch() const {
  const CollectiveKind kind = participants_.front()->call.kind;
  if (with_equal_pieces(kind) == kind) return std::nullopt;
  const auto root = static_cast<std::size_t>(participants_.front()->call.root);
  const bool has_sender = kind == CollectiveKind::kScatterV;
  const bool has_receiver = kind == CollectiveKind::kGatherV;
  for (std::size_t src = 0; src < participants_.size(); ++src) {
    if (has_sender && src != root) continue;
    for (std::size_t dst = 0; dst < participants_.size(); ++dst) {
      if (has_receiver && dst != root) continue;
      const CollectiveOperation& from = *participants_[src];
      const CollectiveOperation& to = *participants_[dst];
      // One side's counts are missing where its slice is the piece.
      const std::int64_t sent =
          from.call.in_counts.empty() ? from.call.in.size() : from.call.in_counts[dst];
      const std::int64_t expected =
          to.call.out_counts.empty() ? to.call.out.size() : to.call.out_counts[src];
      if (sent == expected) continue;
      const Operation& sender = from.operation;
      const Operation& receiver = to.operation;
      const std::string text = fmt::format(
          "collective mismatch in counts: rank {} sends {} {} to rank {}, which counts on {}: {} "
          "at "
          "{}:{} and {}:{}{}",
          sender.owner->rank, sent, name_of(from.call.dtype), receiver.owner->rank, expected,
          name_of(kind), sender.place.file_name(), sender.place.line(), receiver.place.file_name(),
          receiver.place.line(), group_.in_words());
      return CollectiveMismatch(
          text, {sender.owner->rank, name_of(kind), receiver.owner->rank, sender.place.file_name(),
                 static_cast<int>(sender.place.line())});
    }
  }
  return std::nullopt;
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
  const bool is_one_part = first_->call.kind == CollectiveKind::kAllToAllV;
  if (group_.size() == 1 || work < kHelpFromBytes || is_one_part) {
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
  const int my_lane = executor.lane(current_rank()->rank);
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
