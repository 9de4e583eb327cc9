// A run: its ranks, its communicators, and its outcome.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "comm/errors.h"
#include "comm/run_options.h"
#include "comm/thread_annotations.h"
#include "sim/clock/growing_replay.h"
#include "sim/executor/executor.h"
#include "sim/group.h"
#include "sim/liveness.h"
#include "sim/rank_states.h"

namespace rankbox::sim {

class World {
 public:
  /// @param data_plane outlives the world; null: data is in host memory
  explicit World(const RunOptions& options, DataPlane* data_plane = nullptr);

  const RunOptions& options() const { return options_; }
  DataPlane* data_plane() const { return data_plane_; }
  Executor& executor() { return *executor_; }
  Liveness& liveness() { return liveness_; }
  Group& world_group() { return *world_group_; }
  RankState& rank(int world_rank) { return ranks_[static_cast<std::size_t>(world_rank)]; }
  int node_of(int world_rank) const;
  int first_rank_of_node(int node) const;

  /// Creates a communicator of these ranks. Thread safety: any rank may call it.
  /// @param made as for Group
  Group& add_group(std::vector<int> members, std::vector<int> path, Place made);

  /// Returns the communicator of a mailbox, for reports. Thread safety: any rank may call it.
  const Group& group_of(const Channel& channel);

  /// Returns how many earlier communicators `group` repeats. Thread safety: any rank may call it.
  int repeated_by(const Group& group);

  /// Stops the world with a first cause (later ones are ignored): every wait of every rank, now and
  /// later, ends.
  void stop(std::exception_ptr cause) { stop(std::move(cause), nullptr); }

  /// Returns whether it has been stopped: then communicators are being closed, or will be.
  bool is_stopped() const { return stopped_.load(); }

  /// Stops it for a deadlock, or for a mismatch that is known by then. Or fails a collective that
  /// ranks call differently: they wake, and stop the world. Called by the one rank whose block()
  /// returned true: all others are parked or have returned.
  void stop_deadlocked();

  /// Stops it because `rank` blocks on a message to or from itself, which no other rank can
  /// complete.
  void stop_waiting_for_itself(RankState& rank);

  /// Throws the error of a rank whose wait was ended: its own DeadlockError, or Aborted.
  [[noreturn]] void throw_stopped(const RankState& rank, const char* operation, Place place);

  /// Marks a rank as returned, which may leave others waiting for it forever.
  void leave(RankState& rank);

  /// Returns the first cause if there is one, else an error for leftover messages, else null. Call
  /// after all ranks have returned. A rank that wrote to a buffer in flight comes before what its
  /// wrong data led to: an exception, or a mismatch. If several ranks report the same failure (the
  /// two sides of a mismatch), the lowest rank's counts, whichever was first; of collectives that
  /// differ, the one that the report names first.
  std::exception_ptr verdict();

  /// Returns the replay that ranks hand their events over to; null: the trace keeps them all.
  GrowingReplay* replay() { return replay_.get(); }

  /// Call after all ranks have returned.
  Trace take_trace(const TickClock& clock) NO_THREAD_SAFETY_ANALYSIS;

 private:
  void make_state(RankState* place, int rank, std::uint64_t serial);
  void stop(std::exception_ptr cause, std::shared_ptr<const DeadlockError> deadlock);
  std::vector<Channel::Leftover> leftovers();  // by rank and peer; requires that no rank runs
  /// Communicators by their path, not in the order in which threads created them.
  std::vector<Group*> groups_by_path();
  std::exception_ptr left_behind();
  std::exception_ptr dropped_request() const;  // null: none was dropped
  std::exception_ptr overwritten() const;      // null: no rank wrote to a buffer in flight
  std::exception_ptr known_mismatch() const;   // null: every message that met its receive fits

  const RunOptions options_;
  DataPlane* const data_plane_;
  const std::unique_ptr<GrowingReplay> replay_;
  std::unique_ptr<Executor> executor_;
  Liveness liveness_;
  RankStates ranks_;                         // [world rank]
  std::vector<std::atomic<bool>> returned_;  // [world rank]

  Mutex lock_;
  std::deque<std::unique_ptr<Group>> groups_ GUARDED_BY(lock_);  // only grows
  Group* world_group_ = nullptr;      // groups_[0]: ranks that start read it while others split
  std::atomic<bool> stopped_{false};  // written under lock_
  std::exception_ptr cause_ GUARDED_BY(lock_);
  std::shared_ptr<const DeadlockError> deadlock_ GUARDED_BY(lock_);
};

}  // namespace rankbox::sim
