// One sender's mailboxes by destination, read without a lock.
//
// Its size depends on the number of ranks that it sends to, not on the world.
#pragma once

#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>

#include "sim/message/channel.h"

namespace rankbox::sim {

/// An insert-only hash table of destinations, by linear probing. Tables with an entry for every
/// destination never have collisions. In smaller ones, destinations whose distances are powers of
/// two, as in a butterfly, would collide without the hash of their high bits.
///
/// An entry is one word, the number of the mailbox's cache line and the destination: in a butterfly
/// each of a million ranks has 20. The entries follow the table, so that the smallest is a line.
///
/// Thread safety: find() may be called by any thread at any time; insert() by one thread at a time.
class ChannelTable {
 public:
  /// Enough for a leaf of a tree.
  static constexpr std::size_t kSmallest = 4;
  /// An entry has no room for more (sim/run_world.cc).
  static constexpr int kMostRanks = 1 << 22;

  /// @param capacity a power of two
  /// @param memory frees the table when it is released itself: a replaced one may still be read
  static ChannelTable* make(std::size_t capacity, std::pmr::memory_resource& memory) {
    constexpr std::size_t kLine = 64;
    void* const place =
        memory.allocate(sizeof(ChannelTable) + capacity * sizeof(Entry), /*alignment=*/kLine);
    auto* const table = new (place) ChannelTable(capacity);
    for (std::size_t i = 0; i < capacity; ++i) new (table->entries() + i) Entry(0);
    return table;
  }

  /// Returns the mailbox to `dst`; null if it is not in the table.
  Channel* find(int dst) const {
    for (std::size_t at = first_place(dst);; ++at) {
      const std::uint64_t entry = entries()[at & last_].load(std::memory_order_acquire);
      if (entry == 0) return nullptr;
      if (destination_in(entry) == dst) return channel_in(entry);
    }
  }

  std::size_t capacity() const { return std::size_t{last_} + 1; }

  /// Returns whether one more would make find() slow, or endless, among `ranks` destinations.
  bool is_full(std::size_t ranks) const {
    return capacity() < ranks && 4 * std::size_t{used_} >= 3 * capacity();
  }

  /// REQUIRES: `dst` is not in the table, and the table is not full.
  void insert(int dst, Channel* channel) { insert_entry(entry_of(dst, channel)); }

  /// Copies to a larger table that is not shared yet.
  void copy_to(ChannelTable& larger) const {
    for (std::size_t i = 0; i < capacity(); ++i) {
      const std::uint64_t entry = entries()[i].load(std::memory_order_relaxed);
      if (entry != 0) larger.insert_entry(entry);
    }
  }

 private:
  using Entry = std::atomic<std::uint64_t>;  // 0: free

  static constexpr int kRankBits = std::countr_zero(static_cast<unsigned>(kMostRanks));
  static constexpr std::uintptr_t kAlignment = alignof(Channel);

  explicit ChannelTable(std::size_t capacity) : last_(static_cast<std::uint32_t>(capacity - 1)) {}

  static std::uint64_t entry_of(int dst, Channel* channel) {
    // Addresses have 48 bits, of which the last six are 0: 42 are left for the rank's 22.
    const std::uint64_t line = reinterpret_cast<std::uintptr_t>(channel) / kAlignment;
    assert(dst < kMostRanks && line >> (64 - kRankBits) == 0);
    return line << kRankBits | static_cast<std::uint64_t>(dst);
  }
  static int destination_in(std::uint64_t entry) {
    return static_cast<int>(entry & (kMostRanks - 1));
  }
  static Channel* channel_in(std::uint64_t entry) {
    const std::uint64_t address = (entry >> kRankBits) * kAlignment;
    return reinterpret_cast<Channel*>(address);  // NOLINT(performance-no-int-to-ptr): packed
  }

  Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
  const Entry* entries() const { return reinterpret_cast<const Entry*>(this + 1); }

  void insert_entry(std::uint64_t entry) {
    std::size_t at = first_place(destination_in(entry));
    while (entries()[at & last_].load(std::memory_order_relaxed) != 0) ++at;
    entries()[at & last_].store(entry, std::memory_order_release);
    ++used_;
  }

  std::size_t first_place(int dst) const {
    const auto number = static_cast<std::uint32_t>(dst);
    constexpr std::uint32_t kOdd = 0x9e3779b9;  // 2^32 over the golden ratio
    const int bits = std::popcount(last_);      // of an index
    return number ^ (number >> bits) * kOdd >> (32 - bits);
  }

  const std::uint32_t last_;  // the largest index
  std::uint32_t used_ = 0;
};

}  // namespace rankbox::sim
