// The deadlock proof: one word that counts the live ranks and the parked ones.
//
// The protocol. A rank that parks first marks its operation as parked, then calls block(). The rank
// that completes that operation calls unblock() on its behalf, and only then marks the operation as
// done. A rank is therefore un-counted before it runs again, and the count of blocked ranks never
// exceeds the number that are really parked. Hence blocked == live means that every live rank is
// parked on an operation that no rank is completing. Since only ranks complete operations, none
// ever will be. The one call that makes the two equal returns true. Its caller, the only thread
// awake, may read every rank's state.
#pragma once

#include <atomic>
#include <cstdint>

namespace rankbox::sim {

class Liveness {
 public:
  explicit Liveness(int ranks) : word_(static_cast<std::uint64_t>(ranks) << 32 | kNoneBlocked) {}

  /// Call before parking. Returns true if the caller was the last one awake, which proves a
  /// deadlock.
  bool block() { return all_blocked(word_.fetch_add(1) + 1); }

  /// Call before waking a parked rank.
  void unblock() { word_.fetch_sub(1); }

  /// Call when a rank has returned. Returns true if all remaining ranks are parked, which proves a
  /// deadlock.
  bool leave() {
    return all_blocked(word_.fetch_sub(std::uint64_t{1} << 32) - (std::uint64_t{1} << 32));
  }

 private:
  // unblock() may overtake its block(): the count starts high so that it cannot underflow.
  static constexpr std::uint64_t kNoneBlocked = std::uint64_t{1} << 31;

  static bool all_blocked(std::uint64_t word) {
    const std::uint64_t live = word >> 32;
    return live > 0 && (word & 0xffffffff) == kNoneBlocked + live;
  }

  std::atomic<std::uint64_t> word_;
};

}  // namespace rankbox::sim
