// The processes that a launcher started, with one rank each. They find each other, agree on each
// run, and all return or throw the same at its end.
//
// One process group (gpu/launch/process_group.h) serves all runs. During a run, only NCCL connects
// the processes. A rank detects another's failure by an NCCL error or its own deadline, and then
// contributes its end to the exchange that ends the run.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/launch/process_group.h"

namespace rankbox::gpu {

/// Timeout of waits that only another process's end has to end.
inline constexpr double kAnyTime = 30 * 24 * 3600.0;  // seconds

class Processes {
 public:
  /// Connects to the other processes, and chooses this process's GPU. If processes would share one,
  /// and RANKBOX_NCCL_SHARE_GPU=1, prepares NCCL for it, which must precede the first NCCL call.
  /// Throws as launcher::ProcessGroup does. REQUIRES: launcher::launched().
  /// @param seconds for the others to start
  explicit Processes(double seconds);

  int rank() const { return group_.rank(); }
  int world_size() const { return group_.world_size(); }

  /// All processes call this. Returns the contribution of each, by rank. Throws RankFailed with the
  /// first missing process, if not all contribute in time.
  std::vector<std::string> exchange(const std::string& mine, double seconds);

  /// All processes call this before a run of this many ranks, also those without a rank in it.
  /// Returns the id of the run's NCCL world, which `make_id` creates on rank 0. Throws the same on
  /// all of them: InvalidArgument if they do not agree or two ranks share a GPU; the error of the
  /// first rank without a GPU; RankFailed if a process is missing.
  /// @param seconds for the others to call this
  std::string start_run(int world_size, const std::function<std::string()>& make_id,
                        double seconds);

  /// Returns the device of this process's rank. REQUIRES: start_run() has returned.
  int device() const;
  /// Returns how many ranks have this process's GPU, in a world of that size: 1, or more if they
  /// share it.
  int sharers(int world_size) const;
  /// Returns the node of each rank, in a world of that size.
  std::vector<int> nodes(int world_size) const;

  /// All processes call this at the end of a run. Returns the contributions that arrive; the
  /// problem is RankFailed, with the first missing process. A process that succeeded waits as long
  /// as the others run; one that failed waits for the deadline by which the others find out.
  launcher::ProcessGroup::Gathered end_run(const std::string& mine, bool failed,
                                           double deadline_seconds);

 private:
  /// A process's GPU and its machine.
  struct Gpu {
    std::string host;
    std::string bus_id;
    std::string error;  // serialized; empty: there is a GPU
    int device = -1;

    bool is_same(const Gpu& other) const {
      return !bus_id.empty() && bus_id == other.bus_id && host == other.host;
    }
  };

  Gpu choose_gpu(const std::vector<std::string>& hosts) const;
  void check_gpus(int world_size) const;
  void prepare_sharing() const;
  std::vector<int> sharing_ranks(int world_size) const;

  launcher::ProcessGroup group_;
  std::vector<Gpu> gpus_;  // [rank]
};

}  // namespace rankbox::gpu
