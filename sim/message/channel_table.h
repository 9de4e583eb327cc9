// One sender's mailboxes by destination, read without a lock.
//
// Its size depends on the number of ranks that it sends to, not on the world.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace rankbox::sim {

class Channel;

/// An insert-only hash table of destinations. Tables with an entry for every destination never have
/// collisions.
///
/// Thread safety: find() may be called by any thread at any time; insert() by one thread at a time.
class ChannelTable {
 public:
  /// Enough for a sender with a few destinations.
  static constexpr std::size_t kSmallest = 8;

  /// @param capacity a power of two
  explicit ChannelTable(std::size_t capacity)
      : last_(capacity - 1), entries_(std::make_unique<Entry[]>(capacity)) {}

  /// Returns the mailbox to `dst`; null if it is not in the table.
  Channel* find(int dst) const {
    for (auto at = static_cast<std::size_t>(dst);; ++at) {
      const Entry& entry = entries_[at & last_];
      Channel* const channel = entry.channel.load(std::memory_order_acquire);
      if (channel == nullptr || entry.dst == dst) return channel;
    }
  }

  std::size_t capacity() const { return last_ + 1; }

  /// Returns whether one more would make find() slow, or endless, among `ranks` destinations.
  bool is_full(std::size_t ranks) const { return capacity() < ranks && 2 * used_ >= capacity(); }

  /// REQUIRES: `dst` is not in the table, and the table is not full.
  void insert(int dst, Channel* channel) {
    auto at = static_cast<std::size_t>(dst);
    while (entries_[at & last_].channel.load(std::memory_order_relaxed) != nullptr) ++at;
    Entry& entry = entries_[at & last_];
    entry.dst = dst;
    entry.channel.store(channel, std::memory_order_release);
    ++used_;
  }

  /// Copies to a larger table that is not shared yet.
  void copy_to(ChannelTable& larger) const {
    for (std::size_t i = 0; i <= last_; ++i) {
      Channel* const channel = entries_[i].channel.load(std::memory_order_relaxed);
      if (channel != nullptr) larger.insert(entries_[i].dst, channel);
    }
  }

 private:
  struct Entry {
    std::atomic<Channel*> channel{nullptr};
    int dst = -1;  // written before `channel`
  };

  const std::size_t last_;
  const std::unique_ptr<Entry[]> entries_;
  std::size_t used_ = 0;
};

}  // namespace rankbox::sim
