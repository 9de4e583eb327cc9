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

/// The position, 1 to world_size, of a rank in tree 0 or 1 of a double tree. Both trees are
/// numbered like a heap: position 1 is the root, i/2 the parent of i, 2i and 2i+1 its children, as
/// far as there are such positions.
///
///   world_size = 8   tree 0, positions   tree 1, ranks
///                            1                   7
///                        2       3           6       5
///                      4   5   6   7       4   3   2   1
///                     8                   0                  tree 0, ranks: one less
///
/// If a rank has children in one tree, it has none in the other; and it is a left child (of an even
/// position) in one, and a right child in the other, wherever it has a parent in both. For that,
/// tree 1 is the mirror of tree 0; for an odd world size its two last positions change places:
///
///   world_size = 7           1                   5
///                        2       3           4       3
///                      4   5   6   7       2   1   6   0
constexpr int tree_position(int tree, int rank, int world_size) {
  if (tree == 0) return rank + 1;
  if (world_size % 2 == 0) return world_size - rank;
  if (rank == 0) return world_size;
  return rank == world_size - 1 ? rank : world_size - 1 - rank;
}

/// The inverse: the rank at a position of tree 0 or 1.
constexpr int rank_at(int tree, int position, int world_size) {
  if (tree == 0) return position - 1;
  if (world_size % 2 == 0) return world_size - position;
  if (position == world_size) return 0;
  return position == world_size - 1 ? position : world_size - 1 - position;
}

}  // namespace rankbox
