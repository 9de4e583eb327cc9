// Neighbours on rings, trees and butterflies: the integer arithmetic that they share.
//
// Everything is exact for every world size from 1 up, and every rank inside it.
//
// Thread safety: pure functions; any thread may call them.
#pragma once

#include <bit>
#include <string>

#include "comm/errors.h"

namespace rankbox {

/// `rank` as seen from `root`, which is virtual rank 0: an algorithm written for root 0 works for
/// every root.
///
///   root = 2, world_size = 5:   rank          0 1 2 3 4
///                               virtual_rank  3 4 0 1 2
///
/// Errors: InvalidArgument if there is no rank root.
inline int virtual_rank_of(int rank, int root, int world_size) {
  if (root < 0 || root >= world_size) {
    throw InvalidArgument("there is no rank " + std::to_string(root) +
                          " to be src or dst: 0 <= rank < " + std::to_string(world_size) +
                          " is needed");
  }
  return (rank - root + world_size) % world_size;
}

/// The inverse: the rank of a virtual rank.
constexpr int rank_of(int virtual_rank, int root, int world_size) {
  return (virtual_rank + root) % world_size;
}

/// The neighbours on the ring 0 -> 1 -> … -> world_size-1 -> 0. A ring of one is its own neighbour.
constexpr int next_rank(int rank, int world_size) { return (rank + 1) % world_size; }
constexpr int prev_rank(int rank, int world_size) { return (rank + world_size - 1) % world_size; }

/// `value` modulo `n` in [0, n), for negative values too: for chunk indices that walk around a ring
/// backwards.
constexpr int wrap(int value, int n) { return (value % n + n) % n; }

constexpr bool is_power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

/// ⌊log2 n⌋. REQUIRES: n >= 1.
constexpr int floor_log2(int n) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1;
}

/// ⌈log2 n⌉: rounds until one has become n by doubling in every round. REQUIRES: n >= 1.
constexpr int rounds(int n) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)));
}

/// The largest power of two that is at most n. REQUIRES: n >= 1.
constexpr int largest_power_of_two(int n) { return 1 << floor_log2(n); }

}  // namespace rankbox
