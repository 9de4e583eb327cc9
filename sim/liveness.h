// The proof of deadlock: one word that counts the ranks still running and those asleep.
//
// The protocol. A rank that goes to sleep first marks its operation as parked, then calls block().
// Whoever finishes that operation calls unblock() on the sleeper's behalf, and only then marks the
// operation as done. So a rank that is awake has been un-counted before it could do anything, and
// the number of blocked ranks never exceeds the number truly asleep. Hence blocked == live means
// that every live rank sleeps on an operation that nobody is finishing: since only ranks finish
// operations, none ever will. The one call that makes the two equal returns true, and its caller
// (the only thread awake) may read every rank's state.
#pragma once

#include <atomic>
#include <cstdint>

namespace rankbox::sim {

class Liveness {
 public:
  explicit Liveness(int ranks) : word_(static_cast<std::uint64_t>(ranks) << 32 | kNobody) {}

  /// The calling rank is about to sleep. True: it was the last one awake, and this is a deadlock.
  bool block() { return all_blocked(word_.fetch_add(1) + 1); }

  /// A sleeper is about to be woken.
  void unblock() { word_.fetch_sub(1); }

  /// The calling rank has returned. True: those that remain are all asleep, and this is a deadlock.
  bool leave() {
    return all_blocked(word_.fetch_sub(std::uint64_t{1} << 32) - (std::uint64_t{1} << 32));
  }

 private:
  // unblock() may overtake the block() it belongs to: the count starts high so that it cannot
  // borrow.
  static constexpr std::uint64_t kNobody = std::uint64_t{1} << 31;

  static bool all_blocked(std::uint64_t word) {
    const std::uint64_t live = word >> 32;
    return live > 0 && (word & 0xffffffff) == kNobody + live;
  }

  std::atomic<std::uint64_t> word_;
};

}  // namespace rankbox::sim
