// The processes that a launcher started, one rank each, as the backend uses them: they find each
// other, agree on each run, and all return or throw the same at its end.
//
// One process group (launch/process_group.h) serves all runs. Between the exchanges at the
// beginning and the end of a run, only NCCL connects the processes: a rank finds out that another
// one failed by an error of NCCL or its own deadline, and then brings its own end to the end of the
// run.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launch/process_group.h"

namespace rankbox::gpu {

/// For waits that the end of another process ends, and nothing else has to.
inline constexpr double kAnyTime = 30 * 24 * 3600.0;  // seconds

class Processes {
 public:
  /// Connects to the other processes, and chooses this process's GPU. Where processes would share
  /// one, and RANKBOX_NCCL_SHARE_GPU=1, prepares NCCL for it, which has to happen before the first
  /// call of NCCL.
  /// Throws what launcher::ProcessGroup throws. REQUIRES: launcher::launched().
  /// @param seconds that the others may take to start
  explicit Processes(double seconds);

  int rank() const { return group_.rank(); }
  int world_size() const { return group_.world_size(); }

  /// Called by all processes. Returns what each of them brings, by rank. Throws RankFailed, with
  /// the first that is missing, if not all do so in time.
  std::vector<std::string> exchange(const std::string& mine, double seconds);

  /// Before a run of so many ranks, called by all processes, also those without a rank in it.
  /// Returns the id of the run's NCCL world, which `make_id` makes on rank 0. Throws, the same on
  /// all of them, InvalidArgument if they do not agree or two ranks share a GPU; the error of the
  /// first rank without a GPU; RankFailed if a process is missing.
  /// @param seconds that the others may take to get here
  std::string start_run(int world_size, const std::function<std::string()>& make_id,
                        double seconds);

  /// The device of this process's rank. REQUIRES: start_run() has returned.
  int device() const;
  /// [rank] of a world of that size.
  std::vector<int> nodes(int world_size) const;

  /// The end of a run, called by all processes. Returns what each brings, as far as it arrives; the
  /// problem is RankFailed, with the first process that is missing. A process that succeeded waits
  /// for as long as the others run; one that failed, for the deadline by which the others find out.
  launcher::ProcessGroup::Gathered end_run(const std::string& mine, bool failed,
                                           double deadline_seconds);

 private:
  /// A process's GPU, and the machine that it is on.
  struct Gpu {
    std::string host;
    std::string bus_id;
    std::string error;  // bytes of it; empty: there is a GPU
    int device = -1;
  };

  Gpu choose_gpu(const std::vector<std::string>& hosts) const;
  void check_gpus(int world_size) const;
  void prepare_sharing() const;
  std::vector<int> sharing_ranks(int world_size) const;

  launcher::ProcessGroup group_;
  std::vector<Gpu> gpus_;  // [rank]
};

}  // namespace rankbox::gpu
