// What the algorithms of chapter 5 cost, in closed form: the coefficients of α, β and γ along the
// critical path.
//
// All take (world_size, elements, element_bytes), and are exact for every world_size >= 1 and every
// count, even where world_size does not divide it. `elements` is the size N of one rank's argument:
//   gather, all-gather    of `tensor`
//   scatter               of `piece`
//   reduce-scatter        of `tensor`, which is cut into chunks of at most ⌈N/p⌉ elements
//   all-to-all            of `input`, likewise
// Below, p = world_size, L = ⌈log2 p⌉, n = elements * element_bytes, and
// m = ⌈elements/p⌉ * element_bytes.
#pragma once

#include <cstdint>

#include "comm/run_options.h"

namespace rankbox::cost {

/// (p-1)(α + nβ)
Cost gather_naive(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// Lα + (p-1)nβ: the root's L messages bring p-1 tensors, and each child is
/// ready when its turn comes.
Cost gather_tree(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// Lα + (p-1)nβ, as gather_tree.
Cost scatter_tree(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// gather_naive of n bytes, then a naive broadcast of pn bytes: 2(p-1)α + (p-1)(p+1)nβ
Cost allgather_naive(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// gather_tree of n bytes, then a tree broadcast of pn bytes: 2Lα + (p-1 + pL)nβ
Cost allgather_tree(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// (p-1)(α + nβ)
Cost allgather_ring(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// Lα + (p-1)nβ
Cost allgather_bruck(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// (p-1)(α + mβ + mγ): every step lasts as long as the largest chunk takes.
Cost reduce_scatter_ring(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// (p-1)(α + mβ): the rank with the largest chunk receives one of this size in every step.
Cost alltoall_pairwise(int world_size, std::int64_t elements, std::int64_t element_bytes);

}  // namespace rankbox::cost
