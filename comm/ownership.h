// The owner of a slice's memory, and whether two slices overlap.
#pragma once

#include <cstdint>

#include "comm/slice.h"

namespace rankbox {

/// Returns the rank of the same world that created the slice's tensor, unless that is the owner
/// `mine` (MemoryMeter::owner); else -1. Tensors created outside any rank have no owner. Any rank
/// may use the tensors of an earlier world.
inline int foreign_owner(std::uint64_t mine, Slice slice) {
  if (slice.owner() == mine || slice.owner() >> 32 != mine >> 32) [[likely]]
    return -1;
  return static_cast<int>(slice.owner() & 0xffffffff) - 1;
}

inline bool overlap(Slice a, Slice b) {
  const auto* const a_begin = static_cast<const char*>(a.data());
  const auto* const b_begin = static_cast<const char*>(b.data());
  return a.bytes() > 0 && b.bytes() > 0 && a_begin < b_begin + b.bytes() &&
         b_begin < a_begin + a.bytes();
}

}  // namespace rankbox
