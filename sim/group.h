// A communicator's shared part: its members, mailboxes and collectives.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "comm/thread_annotations.h"
#include "sim/collective/collective.h"
#include "sim/collective/short_collective.h"
#include "sim/message/channel.h"
#include "sim/message/channel_table.h"

namespace rankbox::sim {

class World;

class Group {
 public:
  /// @param members world ranks, by index in the group
  /// @param path tells groups apart however threads run: the parent's path, then which split and
  /// which color
  /// @param id its place in the order of making
  Group(World& world, int id, std::vector<int> members, std::vector<int> path, bool closed);

  World& world() const { return world_; }
  int id() const { return id_; }
  int size() const { return static_cast<int>(members_.size()); }
  const std::vector<int>& members() const { return members_; }
  const std::vector<int>& path() const { return path_; }
  int world_rank(int index) const { return members_[static_cast<std::size_t>(index)]; }

  /// The mailbox from src to dst (indices), made on first use.
  Channel& channel(int src, int dst);

  /// Where a blocking call begins, and ends if all ranks' are short.
  ShortCollectives& short_collectives() { return short_collectives_; }
  const ShortCollectives& short_collectives() const { return short_collectives_; }

  /// Adds rank `index` to the collective that its long calls in this group have come to, and runs
  /// it if it is the last. When this returns, the operation is done or will be completed by another
  /// rank.
  void arrive(int index, CollectiveOperation& operation);

  /// Numbers the splits of this group. Called by the rank that executes one; two never overlap.
  int next_split() { return splits_++; }

  /// Withdraws an arrival whose collective has not begun; all later ones of the group cannot
  /// complete. False: too late.
  bool withdraw(CollectiveOperation& operation);

  /// Completes everything that waits, now and later, as stopped.
  void close();

  /// Once all ranks have returned: messages that were never received.
  std::vector<Channel::Leftover> leftovers();

 private:
  /// A job that no rank uses.
  CollectiveJob& free_job() REQUIRES(jobs_lock_);

  World& world_;
  const int id_;
  const std::vector<int> members_;
  const std::vector<int> path_;

  Channel& make_channel(int src, int dst);

  // Most pairs never communicate: tables and mailboxes are made when first needed, under
  // channels_lock_, and found without it. A table that a larger one has replaced may still be read.
  std::vector<std::atomic<ChannelTable*>> tables_;  // [src]
  Mutex channels_lock_;
  std::deque<ChannelTable> made_tables_ GUARDED_BY(channels_lock_);
  std::deque<Channel> channels_ GUARDED_BY(channels_lock_);
  bool channels_closed_ GUARDED_BY(channels_lock_);

  int splits_ = 0;  // touched only inside a split, and splits of a group follow each other

  ShortCollectives short_collectives_;

  SpinLock jobs_lock_;
  // As many as were ever in flight at once, and a few more.
  std::deque<CollectiveJob> all_jobs_ GUARDED_BY(jobs_lock_);
  // Begun, oldest first; null: complete.
  std::deque<CollectiveJob*> jobs_ GUARDED_BY(jobs_lock_);
  std::int64_t first_job_ GUARDED_BY(jobs_lock_) = 0;  // number of jobs_.front()
  bool jobs_closed_ GUARDED_BY(jobs_lock_);
  std::vector<std::int64_t> next_job_ GUARDED_BY(jobs_lock_);  // [index]
};

}  // namespace rankbox::sim
