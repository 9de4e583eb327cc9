// One sender's mailboxes by destination, read without a lock.
//
// Its size depends on the number of ranks that it sends to, not on the world.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

namespace rankbox::sim {

class Channel;

/// An insert-only hash table of destinations, by linear probing. Tables with an entry for every
/// destination never have collisions. In smaller ones, destinations whose distances are powers of
/// two, as in a butterfly, would collide without the hash of their high bits.
///
/// Thread safety: find() may be called by any thread at any time; insert() by one thread at a time.
class ChannelTable {
 public:
  /// Enough for a leaf of a tree.
  static constexpr std::size_t kSmallest = 4;

  /// @param capacity a power of two
  /// @param memory frees what the table allocates
  ChannelTable(std::size_t capacity, std::pmr::memory_resource* memory)
      : last_(capacity - 1), bits_(std::countr_zero(capacity)), entries_(capacity, memory) {}

  /// Returns the mailbox to `dst`; null if it is not in the table.
  Channel* find(int dst) const {
    for (std::size_t at = first_place(dst);; ++at) {
      const Entry& entry = entries_[at & last_];
      Channel* const channel = entry.channel.load(std::memory_order_acquire);
      if (channel == nullptr || entry.dst == dst) return channel;
    }
  }

  std::size_t capacity() const { return last_ + 1; }

  /// Returns whether one more would make find() slow, or endless, among `ranks` destinations.
  bool is_full(std::size_t ranks) const {
    return capacity() < ranks && 4 * used_ >= 3 * capacity();
  }

  /// REQUIRES: `dst` is not in the table, and the table is not full.
  void insert(int dst, Channel* channel) {
    std::size_t at = first_place(dst);
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

  std::size_t first_place(int dst) const {
    const auto number = static_cast<std::uint32_t>(dst);
    constexpr std::uint32_t kOdd = 0x9e3779b9;  // 2^32 over the golden ratio
    return number ^ (number >> bits_) * kOdd >> (32 - bits_);
  }

  const std::size_t last_;
  const int bits_;  // of an index
  std::pmr::vector<Entry> entries_;
  std::size_t used_ = 0;
};

}  // namespace rankbox::sim
