// The shared part of a communicator: its members, mailboxes and collectives.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "comm/place.h"
#include "comm/thread_annotations.h"
#include "sim/collective/collective.h"
#include "sim/collective/short_collective.h"
#include "sim/message/mailboxes.h"

namespace rankbox::sim {

class World;

class Group {
 public:
  /// @param members world ranks, by index in the group
  /// @param made the first member's call of split; without a line: the world
  /// @param path identifies groups regardless of thread timing: the parent's path, then the split
  /// and the color
  /// @param id its position in the order of creation
  Group(World& world, int id, std::vector<int> members, std::vector<int> path, Place made,
        bool closed);

  World& world() const { return world_; }
  int id() const { return id_; }
  int size() const { return static_cast<int>(members_.size()); }
  const std::vector<int>& members() const { return members_; }
  const std::vector<int>& path() const { return path_; }
  /// Returns " (ranks 1 and 0 of the communicator split at ring.cc:7, of world ranks 0 and 2)",
  /// for messages, which name ranks of the world; "" for the world.
  std::string in_words(int world_rank, int peer) const;
  /// Returns ", in the communicator split at ring.cc:7, of world ranks 0 and 2"; "" for the world.
  std::string in_words() const;
  /// Returns whether it was made after the other one, on the same line and of the same ranks.
  bool repeats(const Group& other) const;
  int world_rank(int index) const { return members_[static_cast<std::size_t>(index)]; }

  /// Returns the mailbox from src to dst (indices), created on first use.
  Channel& channel(int src, int dst) { return mailboxes_.from_to(src, dst); }

  /// Blocking calls begin here, and end here if all ranks' calls are short.
  ShortCollectives& short_collectives() { return short_collectives_; }
  const ShortCollectives& short_collectives() const { return short_collectives_; }

  /// Adds rank `index` to the collective of its next long call in this group, and runs it if the
  /// rank is the last. On return, the operation is done or will be completed by another rank.
  void arrive(int index, CollectiveOperation& operation);

  /// Fails a collective that ranks call differently and a rank waits for, if there is one, and
  /// returns whether there is. A difference is reported once all ranks have called, or here, once
  /// no rank can: then the report does not depend on the order of their calls.
  /// REQUIRES: all ranks are parked or have returned.
  bool fail_if_calls_differ();

  /// Numbers the splits of this group. Called by the rank that executes one; two never overlap.
  int next_split() { return splits_++; }

  /// Withdraws an arrival whose collective has not begun; all later ones of the group cannot
  /// complete. Returns false if it is too late.
  bool withdraw(CollectiveOperation& operation);

  /// Completes all waiting operations, now and later, as stopped.
  void close();

  /// Returns messages that were never received. Call once all ranks have returned.
  std::vector<Channel::Leftover> leftovers();

  /// As Mailboxes::owns().
  bool owns(const Channel& channel) { return mailboxes_.owns(channel); }

 private:
  /// Returns a job that no rank uses.
  CollectiveJob& free_job() REQUIRES(jobs_lock_);

  World& world_;
  const int id_;
  const std::vector<int> members_;
  const std::vector<int> path_;
  const Place made_;

  std::string name() const;

  Mailboxes mailboxes_;

  int splits_ = 0;  // used only inside a split; splits of a group never overlap

  ShortCollectives short_collectives_;

  SpinLock jobs_lock_;
  // Grows to the most jobs ever in flight at once, and a few more.
  std::deque<CollectiveJob> all_jobs_ GUARDED_BY(jobs_lock_);
  // Jobs in progress, oldest first; null: complete.
  std::deque<CollectiveJob*> jobs_ GUARDED_BY(jobs_lock_);
  std::int64_t first_job_ GUARDED_BY(jobs_lock_) = 0;  // number of jobs_.front()
  bool jobs_closed_ GUARDED_BY(jobs_lock_);
  std::vector<std::int64_t> next_job_ GUARDED_BY(jobs_lock_);  // [index]
};

}  // namespace rankbox::sim
