// A run on NCCL, as the ranks of one process share it: who is in it, and how it ends.
//
//   NcclWorld world({.world_size = 4});
//   // on each of four threads:
//   RankDevice gpu(r, r);
//   NcclRank rank(world, gpu, owner);      // all ranks at once, under the deadline
//   try {
//     NcclCommunicator dist = rank.communicator();
//     body(dist);
//     rank.finish();
//   } catch (...) {
//     rank.fail(std::current_exception());
//   }
//   // and when all have ended:
//   if (world.cause()) std::rethrow_exception(world.cause());
//
// All ranks live in this process, a thread each, unless `local_ranks` says which do; then the id must
// come from outside: one rank gets it from NcclWorld::make_id(), and every process is told.
//
// The first failure of any rank stops the world. Every other rank looks at that in its next call, and
// all the time while it waits; it aborts its communicators, which ends what they have on the GPU, and
// throws Aborted. Ranks of other processes are not told: their NCCL tells them, or their deadline.
//
// Thread safety: all of it may be used by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nccl.h>

#include "comm/call_checks.h"
#include "gpu/nccl/flight_recorder.h"
#include "gpu/nccl/group.h"

namespace rankbox::gpu {

struct NcclSettings {
  int world_size = 1;
  std::vector<int> local_ranks = {};    // of this process; empty: all
  std::optional<ncclUniqueId> id = {};  // needed unless all ranks are local
  std::vector<int> nodes = {};          // [rank] in ascending order; empty: all on node 0
  double deadline_seconds = 30;         // that a rank waits without anything getting done
  bool check_collectives = true;        // compare the arguments of the ranks of this process
  // The working communicators' calls enqueue on the rank's own thread, instead of one that NCCL
  // starts for each call: quicker by that. But a rank whose peer is gone may then be stuck inside
  // a call (a connection, a full queue), where no deadline reaches it. For benchmarks.
  bool blocking_calls = false;
  // Called with the first cause when the world is stopped, once, by whichever thread stops it, before
  // any rank of this process aborts: so that other processes may be told why before their NCCL tells
  // them that. May be null; what it throws is ignored.
  std::function<void(const std::exception_ptr&)> on_failure = {};
};

/// "barrier at ring.cc:22", or without the place where that is not known.
std::string call_in_words(const Caller& caller);

class NcclWorld {
 public:
  /// Throws InvalidArgument for settings that cannot be, NcclError if there is no id to be had.
  explicit NcclWorld(NcclSettings settings);

  /// The 128 bytes by which ranks find each other; needs neither a GPU nor a driver.
  static ncclUniqueId make_id();

  const NcclSettings& settings() const { return settings_; }
  const ncclUniqueId& id() const { return *settings_.id; }
  bool is_local(int rank) const { return local_[static_cast<std::size_t>(rank)]; }
  int node_of(int rank) const;
  int local_rank_of(int rank) const;

  /// The shared part of a communicator: made by the first rank that asks, found by the others.
  NcclGroup& group(const std::vector<int>& path, const std::vector<int>& members);

  // ---- How a run ends ----

  /// Stops the world; later causes are ignored.
  void stop(std::exception_ptr cause);
  /// The same for two calls that do not go together: all ranks concerned are told the same.
  void stop(const Conflict& conflict, const Caller& caller);

  bool is_stopped() const { return stopped_.load(std::memory_order_acquire); }
  /// Null while it is not stopped.
  std::exception_ptr cause() const;
  /// What a rank gets that finds the world stopped: MessageMismatch, CollectiveMismatch or
  /// DeadlockError if that concerns it, else Aborted.
  [[noreturn]] void throw_stopped(const Caller& caller) const;

  /// A rank has returned. If some other rank's call needs it, that ends the world.
  void leave(int rank);
  /// The same, seen from a call that has just been posted.
  void check_returned(const NcclGroup& group);

  // ---- For the message of a failure ----

  void add(FlightRecorder& recorder);
  void remove(FlightRecorder& recorder);
  /// The last operations of all ranks of this process.
  std::string flights() const;

  void note_arrival(int rank);
  /// "rank 3 of this process has not come", or nothing.
  std::string missing_in_words() const;

 private:
  struct Cause {
    std::exception_ptr error;
    Conflict conflict = {};                              // no ranks: there is none
    std::shared_ptr<const DeadlockError> deadlock = {};  // null: it is none
  };
  void stop_for(Cause cause);
  void stop_for(const Orphan& orphan);

  NcclSettings settings_;
  std::vector<bool> local_;  // [rank]
  std::atomic<bool> stopped_{false};
  std::atomic<int> returned_count_{0};

  mutable std::mutex lock_;  // guards the rest
  Cause cause_;
  std::map<std::vector<int>, std::unique_ptr<NcclGroup>> groups_;
  std::vector<bool> arrived_;   // [rank]
  std::vector<bool> returned_;  // [rank]
  std::vector<FlightRecorder*> recorders_;
};

}  // namespace rankbox::gpu
