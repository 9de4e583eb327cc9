#include "sim/world.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "comm/rank_failure.h"
#include "sim/wait_for_graph.h"

namespace rankbox::sim {
namespace {

std::uint64_t next_world_serial() {
  static std::atomic<std::uint64_t> serial{0};
  return ++serial;
}

int node_of(int rank, const RunOptions& options) {
  return static_cast<int>(static_cast<std::int64_t>(rank) * options.nodes / options.world_size);
}

/// Returns the options that a data plane supports.
RunOptions without_reading_data(RunOptions options, const DataPlane& data_plane) {
  options.watch_buffers = false;
  options.snapshot_elements = 0;
  options.memory_notes = 0;
  if (!data_plane.runs_on_fibers()) options.executor = ExecutorKind::kThreads;
  return options;
}

/// Returns null if the trace keeps all events.
std::unique_ptr<GrowingReplay> make_replay(const RunOptions& options) {
  if (!options.trace || options.events_per_rank < 0) return nullptr;
  std::vector<int> nodes;
  nodes.reserve(static_cast<std::size_t>(options.world_size));
  for (int rank = 0; rank < options.world_size; ++rank) nodes.push_back(node_of(rank, options));
  return std::make_unique<GrowingReplay>(options.cluster, std::move(nodes));
}

/// Returns how many events a rank records before it hands them over: few locks, but little memory
/// for a million ranks.
std::size_t events_of_a_block(int world_size) { return world_size > 65'536 ? 8 : 64; }

/// Returns -1 for other errors.
int rank_of_collective_mismatch(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const CollectiveMismatch& mismatch) {
    return mismatch.rank();
  } catch (...) {
    return -1;
  }
}

bool is_a_stub(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const NotImplemented&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

RankState*& current_rank() {
  static thread_local RankState* rank = nullptr;
  return rank;
}

World::World(const RunOptions& options, DataPlane* data_plane)
    : options_(data_plane == nullptr ? options : without_reading_data(options, *data_plane)),
      data_plane_(data_plane),
      replay_(make_replay(options_)),
      executor_(make_executor(options_)),
      liveness_(options.world_size),
      ranks_(options.world_size,
             [this, serial = next_world_serial()](RankState* place, int rank) {
               make_state(place, rank, serial);
             }),
      returned_(static_cast<std::size_t>(options.world_size)) {
  std::vector<int> everyone(static_cast<std::size_t>(options.world_size));
  std::iota(everyone.begin(), everyone.end(), 0);
  if (replay_ != nullptr) replay_->add_group(0, everyone);
  groups_.push_back(
      std::make_unique<Group>(*this, 0, std::move(everyone), std::vector<int>{}, Place(), false));
  world_group_ = groups_.front().get();
}

void World::make_state(RankState* place, int rank, std::uint64_t serial) {
  const SpinLimit spin_limit = executor_->spin_limit();
  RankState& state = *std::construct_at(place, *this, rank, spin_limit, data_plane_, options_.trace,
                                        options_.seed + static_cast<std::uint64_t>(rank));
  state.recorder.keep_snapshots(options_.snapshot_elements);
  if (options_.memory_notes > 0)
    state.recorder.keep_memory_notes(state.memory, options_.memory_notes);
  state.memory.owner = serial << 32 | static_cast<std::uint64_t>(rank + 1);
  if (replay_ == nullptr) return;
  state.recorder.hand_over_to(*replay_, rank, static_cast<std::size_t>(options_.events_per_rank),
                              events_of_a_block(options_.world_size));
}

int World::node_of(int world_rank) const { return sim::node_of(world_rank, options_); }

int World::first_rank_of_node(int node) const {
  const std::int64_t ranks = static_cast<std::int64_t>(node) * options_.world_size;
  return static_cast<int>((ranks + options_.nodes - 1) / options_.nodes);
}

Group& World::add_group(std::vector<int> members, std::vector<int> path, Place made) {
  const Lock guard(lock_);
  if (replay_ != nullptr) replay_->add_group(static_cast<int>(groups_.size()), members);
  groups_.push_back(std::make_unique<Group>(*this, static_cast<int>(groups_.size()),
                                            std::move(members), std::move(path), made, stopped_));
  return *groups_.back();
}

const Group& World::group_of(const Channel& channel) {
  const Lock guard(lock_);
  // The world last: most programs have no other, and it has the most mailboxes.
  for (std::size_t i = groups_.size() - 1; i > 0; --i) {
    if (groups_[i]->owns(channel)) return *groups_[i];
  }
  return *world_group_;
}

int World::repeated_by(const Group& group) {
  const Lock guard(lock_);
  return static_cast<int>(
      std::ranges::count_if(groups_, [&](const auto& earlier) { return group.repeats(*earlier); }));
}

void World::stop(std::exception_ptr cause, std::shared_ptr<const DeadlockError> deadlock) {
  std::vector<Group*> groups;
  {
    const Lock guard(lock_);
    if (stopped_.exchange(true)) return;
    cause_ = std::move(cause);
    deadlock_ = std::move(deadlock);
    for (const std::unique_ptr<Group>& group : groups_) groups.push_back(group.get());
  }
  // Groups added from here on start closed.
  for (Group* group : groups) group->close();
}

void World::stop_deadlocked() {
  {
    // While a stopped world wakes its ranks one by one, the remaining ones may all be parked: that
    // is not a deadlock.
    const Lock guard(lock_);
    if (stopped_) return;
  }
  std::vector<const RankState*> asleep;
  std::vector<bool> returned;
  for (const RankState& rank : ranks_) {
    returned.push_back(returned_[static_cast<std::size_t>(rank.rank)].load());
    if (!returned.back()) asleep.push_back(&rank);
  }
  for (Group* group : groups_by_path())
    if (group->fail_if_calls_differ()) return;  // its ranks wake, and stop the world
  // A message that did not fit may be the cause, though no rank came to wait for it.
  if (const std::exception_ptr mismatch = known_mismatch()) return stop(mismatch);
  const DeadlockError error = explain_deadlock(asleep, returned, leftovers());
  stop(std::make_exception_ptr(error), std::make_shared<const DeadlockError>(error));
}

void World::stop_waiting_for_itself(RankState& rank) {
  const std::vector<bool> returned(ranks_.size(), false);
  const DeadlockError error = explain_deadlock({&rank}, returned, {});
  stop(std::make_exception_ptr(error), std::make_shared<const DeadlockError>(error));
}

void World::throw_stopped(const RankState& rank, const char* operation, Place place) {
  ErrorContext context{rank.rank, operation, -1, place.file_name(), static_cast<int>(place.line())};
  const Lock guard(lock_);
  if (deadlock_ != nullptr) {
    const Wait* const wait = find_wait(deadlock_->waits(), rank.rank);
    if (wait != nullptr && !wait->peers.empty()) context.peer = wait->peers.front();
    throw deadlock_->as_seen_by(context);
  }
  throw Aborted(fmt::format("rank {} was stopped in {} at {}:{}, because {}", rank.rank, operation,
                            place.file_name(), place.line(), what_of(cause_)),
                context);
}

void World::leave(RankState& rank) {
  returned_[static_cast<std::size_t>(rank.rank)].store(true);
  if (liveness_.leave()) stop_deadlocked();
}

std::exception_ptr World::verdict() {
  if (!stopped_) return left_behind();
  const Lock guard(lock_);
  if (deadlock_ != nullptr) {
    // A rank that waits for a message of a dropped request waits forever: that is not the cause.
    const std::exception_ptr given_up = dropped_request();
    // All ranks share a deadlock; it names the cycle's first.
    return given_up == nullptr ? cause_ : given_up;
  }
  if (std::exception_ptr earlier = overwritten(); earlier && !is_a_stub(cause_)) return earlier;
  const std::string what = what_of(cause_);
  // A collective mismatch names the rank that differs.
  const int named = rank_of_collective_mismatch(cause_);
  for (const RankState& rank : ranks_) {
    if (named >= 0 && rank.rank != named) continue;
    if (rank.failure != nullptr && what_of(rank.failure) == what) return rank.failure;
  }
  return cause_;
}

std::exception_ptr World::dropped_request() const {
  for (const RankState& rank : ranks_) {
    if (rank.dropped_request.empty()) continue;
    const ErrorContext context{rank.rank, rank.dropped_operation, rank.dropped_peer,
                               rank.dropped_place.file_name(),
                               static_cast<int>(rank.dropped_place.line())};
    return std::make_exception_ptr(UnreceivedMessage(rank.dropped_request, context));
  }
  return nullptr;
}

std::exception_ptr World::overwritten() const {
  for (const RankState& rank : ranks_)
    if (rank.overwritten != nullptr) return rank.overwritten;
  return nullptr;
}

std::exception_ptr World::known_mismatch() const {
  // Which of two ranks found it depends on the schedule; the report must not.
  const MessageMismatch* first = nullptr;
  const auto is_before = [](const MessageMismatch& a, const MessageMismatch& b) {
    return std::pair(a.rank(), std::string_view(a.what())) <
           std::pair(b.rank(), std::string_view(b.what()));
  };
  for (const RankState& rank : ranks_) {
    for (const MessageMismatch& each : rank.mismatches) {
      if (first == nullptr || is_before(each, *first)) first = &each;
    }
  }
  return first == nullptr ? nullptr : std::make_exception_ptr(*first);
}

std::vector<Channel::Leftover> World::leftovers() {
  std::vector<Channel::Leftover> all;
  const Lock guard(lock_);
  for (const std::unique_ptr<Group>& group : groups_) {
    for (const Channel::Leftover& leftover : group->leftovers()) all.push_back(leftover);
  }
  // The creation order of mailboxes depends on the schedule; the report must not.
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a.owner, a.peer) < std::pair(b.owner, b.peer);
  });
  return all;
}

std::exception_ptr World::left_behind() {
  if (std::exception_ptr given_up = dropped_request()) return given_up;
  const std::vector<Channel::Leftover> unmatched = leftovers();
  if (unmatched.empty()) return nullptr;
  const Channel::Leftover& first = unmatched.front();
  const bool sent = first.kind == OperationKind::kSend;
  const std::string message =
      fmt::format("{}: {}{}; every {} needs its {}",
                  sent ? "unreceived message" : "unmatched receive", in_words(first),
                  unmatched.size() > 1 ? fmt::format(" (and {} more)", unmatched.size() - 1) : "",
                  sent ? "send" : "receive", sent ? "receive" : "send");
  const ErrorContext context{first.owner, sent ? "send" : "recv", first.peer,
                             first.place.file_name(), static_cast<int>(first.place.line())};
  return std::make_exception_ptr(UnreceivedMessage(message, context));
}

std::vector<Group*> World::groups_by_path() {
  const Lock guard(lock_);
  std::vector<Group*> groups;
  for (const std::unique_ptr<Group>& group : groups_) groups.push_back(group.get());
  std::ranges::sort(groups, {}, &Group::path);
  return groups;
}

Trace World::take_trace(const TickClock& clock) {
  const std::vector<Group*> groups = groups_by_path();
  Trace trace;
  std::vector<std::int32_t> number(groups_.size());  // by order of creation, as stored in events
  for (std::size_t i = 0; i < groups.size(); ++i) {
    trace.groups.push_back(groups[i]->members());
    number[static_cast<std::size_t>(groups[i]->id())] = static_cast<std::int32_t>(i);
  }
  bool lacks_notes = false;
  for (RankState& rank : ranks_) {
    trace.ranks.push_back(rank.recorder.take(clock));
    if (options_.snapshot_elements > 0) trace.snapshots.push_back(rank.recorder.take_snapshots());
    lacks_notes |= rank.recorder.may_lack_memory_notes();
    if (options_.memory_notes > 0) trace.memory_notes.push_back(rank.recorder.take_memory_notes());
    for (Event& event : trace.ranks.back())
      event.group = number[static_cast<std::size_t>(event.group)];
    trace.nodes.push_back(node_of(rank.rank));
    trace.left_out += rank.recorder.left_out();
  }
  if (lacks_notes) trace.memory_notes.clear();
  return trace;
}

}  // namespace rankbox::sim
