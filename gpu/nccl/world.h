// A run on NCCL, as the ranks of one process share it: its settings, and how it is stopped.
//
//   NcclWorld world({.world_size = 4});
//   // on each of four threads:
//   RankDevice gpu(r, r);
//   NcclRank rank(world, gpu, owner);      // all ranks at once, under the deadline
//   try {
//     Communicator dist(Backend(NcclBackend(rank)));
//     body(dist);
//     rank.finish();
//   } catch (...) {
//     rank.fail(std::current_exception());
//   }
//
// All ranks live in this process, a thread each, unless `local_ranks` says which do; then the id
// must come from outside: one process gets it from NcclWorld::make_id() and passes it to all
// others.
//
// The first failure of any rank stops the world. Every other rank looks at that in its next call,
// and while it waits; it aborts its communicators, which ends what they have on the GPU, and throws
// Aborted. Ranks of other processes find out by NCCL's errors, or by their deadline.
//
// Thread safety: all of it may be used by any thread.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nccl.h>

#include "comm/call_checks.h"
#include "comm/run_options.h"

namespace rankbox::gpu {

struct NcclSettings {
  int world_size = 1;
  std::vector<int> local_ranks = {};    // of this process; empty: all
  std::optional<ncclUniqueId> id = {};  // needed unless all ranks are local
  std::vector<int> nodes = {};          // [rank] in ascending order; empty: all on node 0
  double deadline_seconds = 30;         // that a rank waits without progress on its GPU
  double start_seconds = 60;            // the same until communicators are made and connected
  // The working communicators' calls enqueue on the rank's own thread, instead of one that NCCL
  // starts for each call: quicker by that. But a rank whose peer is gone may then be stuck inside
  // a call (a connection), where no deadline reaches it. For benchmarks.
  bool blocking_calls = false;
  std::vector<Fault> faults = {};
};

/// "barrier at ring.cc:22", or without the place where that is not known.
std::string call_in_words(const Caller& caller);

class NcclWorld {
 public:
  /// Throws InvalidArgument for settings that cannot be, NcclError if NCCL returns no id.
  explicit NcclWorld(NcclSettings settings);

  /// The 128 bytes by which ranks find each other; needs neither a GPU nor a driver.
  static ncclUniqueId make_id();

  const NcclSettings& settings() const { return settings_; }
  const ncclUniqueId& id() const { return *settings_.id; }
  int node_of(int rank) const { return settings_.nodes[static_cast<std::size_t>(rank)]; }
  int local_rank_of(int rank) const;

  /// The first call decides the cause.
  void stop(std::exception_ptr cause);
  bool is_stopped() const { return stopped_.load(std::memory_order_acquire); }
  /// Null while it is not stopped.
  std::exception_ptr cause() const;
  /// Throws Aborted, for a rank that finds the world stopped.
  [[noreturn]] void throw_stopped(const Caller& caller) const;

 private:
  NcclSettings settings_;
  std::atomic<bool> stopped_{false};
  mutable std::mutex lock_;
  std::exception_ptr cause_;  // guarded by lock_
};

}  // namespace rankbox::gpu
