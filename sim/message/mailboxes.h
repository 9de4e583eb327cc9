// The mailboxes of a communicator.
//
// Most pairs never communicate, so a mailbox is created when it is first used. From then on it is
// found without a lock. Creation locks only the senders of the same part of the world: in the first
// steps of a million ranks, all of them create mailboxes.
//
// Thread safety: any thread may call anything at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory_resource>
#include <vector>

#include "comm/thread_annotations.h"
#include "sim/message/channel.h"
#include "sim/message/channel_table.h"

namespace rankbox::sim {

class Mailboxes {
 public:
  /// @param closed whether the world has stopped
  Mailboxes(std::size_t ranks, bool closed);

  /// Returns the mailbox from src to dst, both indices in the communicator.
  Channel& from_to(int src, int dst) {
    const ChannelTable* const table =
        tables_[static_cast<std::size_t>(src)].load(std::memory_order_acquire);
    Channel* const channel = table == nullptr ? nullptr : table->find(dst);
    return channel != nullptr ? *channel : make(src, dst);
  }

  /// Completes all waiting operations, now and later, as stopped.
  void close();

  /// Returns the operations that were never matched. REQUIRES: no rank runs.
  std::vector<Channel::Leftover> leftovers();

  /// Returns whether the mailbox is one of these. Cost: O(mailboxes), for reports.
  bool owns(const Channel& channel);

 private:
  static constexpr std::size_t kSendersOfAPart = 4096;

  /// What some senders have created.
  struct Part {
    Mutex lock;
    std::pmr::monotonic_buffer_resource memory GUARDED_BY(lock);  // of tables and channels
    std::pmr::deque<Channel> channels GUARDED_BY(lock){&memory};
    bool closed GUARDED_BY(lock) = false;
  };

  Channel& make(int src, int dst);

  std::vector<std::atomic<ChannelTable*>> tables_;  // [src]; null: has sent nothing
  std::vector<Part> parts_;                         // [src / kSendersOfAPart]
};

}  // namespace rankbox::sim
