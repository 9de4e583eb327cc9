// A native collective: ranks arrive, the last one starts the work, those that wait help, all are
// completed together.
//
// Every rank's memory is in reach, so there is nothing to send: the work is cut into parts of the
// result, and each part is computed from all inputs and written to all outputs while it is in
// cache. That reads every input once and writes every output once, the minimum for an
// all-reduce in shared memory. With a data plane, the last rank hands it the whole work instead.
#pragma once

#include <atomic>
#include <exception>
#include <string>
#include <vector>

#include "comm/collective_call.h"
#include "sim/message/operation.h"

namespace rankbox::sim {

class Group;

/// One rank's part in a collective.
struct CollectiveOperation {
  Operation operation;
  CollectiveCall call;
  Group* group = nullptr;        // where it was called,
  int index = -1;                // and the caller's index there
  bool can_help = false;         // its owner waits in a call, so it may be asked to work
  Group* split_group = nullptr;  // result of split; null for a rank left out
  int split_index = -1;
};

/// One collective call of a whole group, then, once all ranks have left it, the next one that needs
/// a job.
class CollectiveJob {
 public:
  explicit CollectiveJob(Group& group);

  /// Whether no rank uses it any more.
  bool is_free() const { return users_.load(std::memory_order_acquire) == 0; }

  /// Resets a free job.
  void reset();

  /// Reference counting: by the ranks that have arrived, and by the group that waits for the
  /// others.
  void enter() { users_.fetch_add(1, std::memory_order_relaxed); }
  void leave() { users_.fetch_sub(1, std::memory_order_release); }

  Group& group() const { return group_; }
  const std::vector<CollectiveOperation*>& participants() const { return participants_; }

  // Under the group's lock:

  /// Adds rank `index`; true when it was the last one. If it differs from the ranks before it, sets
  /// mismatch().
  bool arrive(int index, CollectiveOperation& operation);

  /// What the ranks disagree on, in words; empty while they agree. Once set it does not change.
  const std::string& mismatch() const { return mismatch_; }

  /// Takes the ranks that have arrived out of the job: the caller must complete them.
  std::vector<CollectiveOperation*> take_arrived();

  /// Removes one arrival. False: it is not there.
  bool withdraw(const CollectiveOperation& operation);

  // Without the lock:

  /// Called by the last rank to arrive, `index`: does the work, with the help of waiting ranks, and
  /// completes every operation, or leaves that to the rank that finishes the last part.
  void run(int index);

  /// Does parts of the work as long as there are any. The job's operations may be done when this
  /// returns.
  void help();

  /// Completes the ranks that have arrived as stopped.
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
  const CollectiveOperation* first_ = nullptr;  // to arrive: what the others are compared with
  std::string mismatch_;
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
