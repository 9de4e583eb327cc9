// A native collective: ranks arrive, and the last one starts the work.
//
// Waiting ranks help, and all are completed together. All ranks' memory is accessible, so no data
// is sent. The work is split into parts of the result. Each part is computed from all inputs and
// written to all outputs while it is in cache. That reads every input once and writes every output
// once, the minimum for an all-reduce in shared memory. With a data plane, the last rank passes the
// whole work to it instead.
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <vector>

#include "comm/collective_call.h"
#include "comm/errors.h"
#include "sim/message/operation.h"

namespace rankbox::sim {

class Group;

/// One rank's part in a collective.
struct CollectiveOperation {
  Operation operation;
  CollectiveCall call;
  Group* group = nullptr;        // of the call,
  int index = -1;                // and the caller's index in it
  bool can_help = false;         // its owner waits in a call, so it may be asked to help
  Group* split_group = nullptr;  // result of split; null for a rank in no group
  int split_index = -1;
};

/// One collective call of a whole group. Reused for a later call once all ranks have left it.
class CollectiveJob {
 public:
  explicit CollectiveJob(Group& group);

  /// Returns whether no rank uses it any more.
  bool is_free() const { return users_.load(std::memory_order_acquire) == 0; }

  /// Resets a free job.
  void reset();

  /// Reference counting: by the ranks that have arrived, and by the group, which waits for the
  /// others.
  void enter() { users_.fetch_add(1, std::memory_order_relaxed); }
  void leave() { users_.fetch_sub(1, std::memory_order_release); }

  Group& group() const { return group_; }
  const std::vector<CollectiveOperation*>& participants() const { return participants_; }

  // REQUIRES the group's lock:

  /// Adds rank `index`. Returns true for the last one.
  bool arrive(int index, CollectiveOperation& operation);

  /// Returns whether calls of ranks that have arrived differ. Some may have withdrawn since.
  bool differs() const { return differs_; }

  /// Returns whether a rank that has arrived waits for this job. REQUIRES: all ranks are parked or
  /// have returned.
  bool is_waited_for() const;

  /// Returns the error of ranks that have arrived and call different collectives, or the same with
  /// different arguments; none if all calls agree. It names two of them. If more than
  /// half agree, the first is the lowest rank that differs from them; else it is the lowest of all.
  /// Cost: O(p).
  std::optional<CollectiveMismatch> mismatch() const;

  /// Returns the error of a rank that sends another number of elements than its receiver counts on.
  /// REQUIRES: all ranks have arrived, and their calls do not differ. Cost: O(p), all_gather_v and
  /// all_to_all_v O(p²).
  std::optional<CollectiveMismatch> piece_mismatch() const;

  /// Removes the ranks that have arrived from the job: the caller must complete them.
  std::vector<CollectiveOperation*> take_arrived();

  /// Removes one arrival. Returns false if it has not arrived.
  bool withdraw(const CollectiveOperation& operation);

  // Without the lock:

  /// Called by the last rank to arrive, `index`. Does the work, with the help of waiting ranks.
  /// Completes every operation, or leaves that to the rank that finishes the last part.
  void run(int index);

  /// Does parts of the work while any are left. The job's operations may be done when this returns.
  void help();

  /// Completes the ranks that have arrived, as stopped.
  void stop();

 private:
  void run_part(int part);
  void run_on_device(DataPlane& data_plane, int index);
  void stop_world(std::exception_ptr cause);
  void finish();

  Group& group_;
  std::vector<CollectiveOperation*> participants_;  // [index in group]; null until it arrives
  std::atomic<int> users_{0};                       // ranks that have arrived and not left
  int arrived_ = 0;
  const CollectiveOperation* first_ = nullptr;  // to arrive: the reference for the others
  bool differs_ = false;
  int parts_ = 1;
  std::atomic<int> next_part_{0};
  std::atomic<int> parts_done_{0};
  std::atomic<bool> failed_{false};
};

/// Called by a rank whose operation is done.
inline void leave_collective(CollectiveOperation& collective) {
  if (collective.operation.job == nullptr) return;  // it never arrived
  collective.operation.job->leave();
  collective.operation.job = nullptr;
}

/// Computes part `part` of `parts` of the collective's result, for all ranks.
/// (collective_kernels.cc)
void run_collective_part(const std::vector<CollectiveOperation*>& participants, int part,
                         int parts);

}  // namespace rankbox::sim
