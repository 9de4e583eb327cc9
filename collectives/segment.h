// Segments: pieces of a tensor with the large ones first.
//
// chunk(whole, i, n) spreads the remainder evenly; segment(whole, i, n) gives every piece ⌈N/n⌉ of
// the N elements as long as there are any, so the last ones are shorter or empty:
//
//   N = 6, n = 4         chunk  a | bc | d | ef        segment  ab | cd | ef | (none)
//
// Chunks suit algorithms in which every rank works on one of them. In a pipeline a short piece
// behind a long one has to wait, and the gap never closes; a short one at the end delays no rank.
//
// Thread safety: pure functions; a segment belongs to the owner of the whole.
#pragma once

#include <algorithm>
#include <cstdint>

#include "comm/slice.h"

namespace rankbox {

/// Segments begin, …, end-1 of n, which are adjacent. There are no elements beyond the n-th.
///
/// REQUIRES: 0 <= begin <= end, n >= 1.
inline Slice segments(Slice whole, int begin, int end, int n) {
  const std::int64_t each = (whole.size() + n - 1) / n;
  return whole.sub(std::min(begin * each, whole.size()), std::min(end * each, whole.size()));
}

/// Segment i of n.
inline Slice segment(Slice whole, int i, int n) { return segments(whole, i, i + 1, n); }

}  // namespace rankbox
