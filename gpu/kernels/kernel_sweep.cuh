// Memory access of the kernels: 16 bytes at a time, wherever a tensor's chunk begins.
//
// A range of elements is cut at the target's 16-byte boundaries:
//
//     | head |   pack   |   pack   |  …  |   pack   | tail |
//            ^ 16-byte boundary
//
// Packs are assigned in tiles. A block of kThreads threads takes kThreads * kAtOnce consecutive
// packs. Each thread takes kAtOnce of them, kThreads apart, so that neighbours read neighbouring
// memory. A thread loads all its packs before it stores the first. With four 16-byte packs from two
// sources, each thread has 128 bytes in flight. A multiprocessor's threads together have enough in
// flight to cover the memory latency. Then the block moves on by one grid of tiles. The first
// threads of the first block handle head and tail, at most 7 elements each.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include "gpu/kernels/launch.cuh"

namespace rankbox::gpu {

// Blocks per multiprocessor. More would leave a thread too few registers for its loads in flight.
inline constexpr int kBlocksAtOnce = 4;
inline constexpr int kPackBytes = 16;

template <class T, int lanes>
struct alignas(sizeof(T) * lanes) Pack {
  T lane[lanes];
};

template <class T>
inline constexpr int kLanes = kPackBytes / static_cast<int>(sizeof(T));

/// Counts elements, except `packs`.
struct Cut {
  std::int64_t head = 0;
  std::int64_t packs = 0;
  std::int64_t tail = 0;
};

inline std::size_t beyond_boundary(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kPackBytes;
}

/// @param target packs lie at its 16-byte boundaries; aligned to its elements
template <class T>
Cut cut_at(const void* target, std::int64_t count) {
  const auto to_boundary =
      static_cast<std::int64_t>((kPackBytes - beyond_boundary(target)) % kPackBytes / sizeof(T));
  Cut cut;
  cut.head = std::min(count, to_boundary);
  cut.packs = (count - cut.head) / kLanes<T>;
  cut.tail = (count - cut.head) % kLanes<T>;
  return cut;
}

/// A pack count as a type. (Device code must not call std::integral_constant's functions.)
template <int packs>
struct AtOnce {
  static constexpr int kPacks = packs;
};

/// All threads together call body(AtOnce<n>(), first) until every pack is covered. A call handles
/// the n packs first, first + kThreads, …
template <int at_once, class Body>
__device__ __forceinline__ void for_each_pack(std::int64_t packs, Body body) {
  constexpr std::int64_t kTile = std::int64_t{at_once} * kThreads;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kTile;
  for (std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kTile; begin < packs;
       begin += step) {
    const std::int64_t first = begin + static_cast<std::int64_t>(threadIdx.x);
    if (begin + kTile <= packs) {
      body(AtOnce<at_once>(), first);
    } else {
      for (std::int64_t one = first; one < packs; one += kThreads) body(AtOnce<1>(), one);
    }
  }
}

/// Calls body(i) for the elements of head and tail.
template <class T, class Body>
__device__ __forceinline__ void for_each_edge(const Cut& cut, Body body) {
  if (blockIdx.x != 0) return;
  const auto i = static_cast<std::int64_t>(threadIdx.x);
  if (i < cut.head) body(i);
  if (i < cut.tail) body(cut.head + cut.packs * kLanes<T> + i);
}

/// Returns the number of tiles for this many packs.
inline std::int64_t tiles_of(std::int64_t packs, int at_once) {
  const std::int64_t tile = std::int64_t{at_once} * kThreads;
  return (packs + tile - 1) / tile;
}

}  // namespace rankbox::gpu
