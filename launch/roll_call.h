// One collective call of all ranks: who has come, with what, and what everybody gets.
//
// Rank 0's hub holds one. All collectives of a star hold everybody until everybody has come, so
// there is never more than one open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/connection.h"
#include "launch/deadline.h"

namespace rankbox::launcher {

enum class Collective : std::uint32_t { kBarrier, kBroadcast, kGather, kAllGather };

/// "barrier", "broadcast_bytes", …
const char* name_of(Collective collective);

/// What a rank sends when it calls a collective.
struct Contribution {
  Collective collective = Collective::kBarrier;
  std::uint32_t sequence = 0;      // how many this rank called before
  std::uint32_t milliseconds = 0;  // so long it is going to wait
  std::string bytes;
};

std::string encode(const Contribution& contribution);
/// Throws Error for what is none.
Contribution decode_contribution(std::string_view bytes);

class RollCall {
 public:
  explicit RollCall(int world_size) : came_(static_cast<std::size_t>(world_size)) {}

  /// `rank` has called. Returns what is wrong with it; empty: nothing is.
  std::string come(int rank, Contribution contribution);

  bool is_open() const { return count_ > 0; }
  bool is_complete() const { return count_ == static_cast<int>(came_.size()); }
  bool has(int rank) const { return came_[static_cast<std::size_t>(rank)].has_value(); }
  std::vector<int> missing() const;
  std::vector<int> present() const;
  /// When the most impatient of those who came gives up. REQUIRES: is_open().
  const Deadline& deadline() const { return *deadline_; }
  /// What `deadline` was made of.
  double seconds() const { return seconds_; }
  /// "barrier (the star's operation 3)". REQUIRES: is_open().
  std::string title() const;

  /// Ends it: what to send to each rank; all empty where it would be too long. REQUIRES:
  /// is_complete().
  std::vector<Bytes> release();

 private:
  std::vector<std::optional<std::string>> came_;  // [rank]
  int count_ = 0;
  Collective collective_ = Collective::kBarrier;
  std::uint32_t sequence_ = 0;
  int first_ = 0;  // the rank that came first
  std::optional<Deadline> deadline_;
  double seconds_ = 0;
};

}  // namespace rankbox::launcher
