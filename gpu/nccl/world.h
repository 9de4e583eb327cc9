// State that the ranks of one process share in a run on NCCL: settings, and how the run stops.
//
//   NcclWorld world({.world_size = 4});
//   // on each of four threads:
//   RankDevice gpu(r, r);
//   reserve_memory(bytes_to_reserve(1, 1));
//   NcclRank rank(world, gpu, owner);
//   try {
//     rank.join();                         // all ranks at once, under the deadline
//     Communicator dist(Backend(NcclBackend(rank)));
//     body(dist);
//     rank.finish();
//   } catch (...) {
//     rank.fail(std::current_exception());
//   }
//   // Destroy `rank` and `gpu` only after all ranks of the process have reached this line.
//
// All ranks are threads of this process, unless `local_ranks` lists the local ones. Then the id
// must come from outside: one process calls NcclWorld::make_id() and sends the id to all others.
//
// The first failure of any rank stops the world. Every other rank checks for that in its next call,
// and while it waits. It then aborts its communicators, which ends their work on the GPU, and
// throws Aborted. Ranks of other processes detect the failure by NCCL errors, or by their deadline.
//
// Thread safety: any thread.
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
  int ranks_per_gpu = 1;                // in all processes: they share its memory
  double deadline_seconds = 30;         // for a rank's wait without progress on its GPU
  double start_seconds = 60;            // the same, until communicators are created and connected
  // Calls on the working communicators enqueue on the rank's own thread. Otherwise NCCL starts a
  // thread for each call, which takes longer. But a rank whose peer is gone may then block inside a
  // call (a connection), where no deadline applies. For benchmarks.
  bool blocking_calls = false;
};

/// Returns "barrier at ring.cc:22", or only the operation if the place is unknown.
std::string call_in_words(const Caller& caller);

class NcclWorld {
 public:
  /// Throws InvalidArgument for invalid settings, and NcclError if NCCL returns no id.
  explicit NcclWorld(NcclSettings settings);

  /// Returns the 128 bytes by which ranks find each other; needs neither a GPU nor a driver.
  static ncclUniqueId make_id();

  const NcclSettings& settings() const { return settings_; }
  const ncclUniqueId& id() const { return *settings_.id; }
  int node_of(int rank) const { return settings_.nodes[static_cast<std::size_t>(rank)]; }
  int local_rank_of(int rank) const;

  /// The first call sets the cause.
  void stop(std::exception_ptr cause);
  bool is_stopped() const { return stopped_.load(std::memory_order_acquire); }
  /// Returns null until the world is stopped.
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
