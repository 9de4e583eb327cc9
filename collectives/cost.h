// What the algorithms of chapters 2 to 4 cost, in closed form: the coefficients of α, β and γ along
// the critical path.
//
// All take (world_size, elements, element_bytes, …), and are exact for every world_size >= 1 and
// every count, even where world_size does not divide it: the headers of the algorithms say which
// piece goes where.
//
// Below, p = world_size, L = ⌈log2 p⌉, N = elements, n = N * element_bytes, and all element counts
// stand for bytes. q is the largest power of two that is at most p, and l = log2 q. H(N, l) is what
// recursive halving moves: Σ ⌈N/2^k⌉ for k = 1 … l, which is (q-1)/q N if q divides N.
#pragma once

#include <cstdint>

#include "comm/run_options.h"

namespace rankbox::cost {

/// The cost of consecutive phases.
inline Cost operator+(const Cost& a, const Cost& b) {
  return {a.steps + b.steps, a.bytes + b.bytes, a.reduced + b.reduced};
}

// ---- Broadcast -------------------------------------------------------------------------------

/// (p-1)(α + nβ)
Cost broadcast_naive(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// L(α + nβ)
Cost broadcast_tree(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// (p-1)(α + nβ)
Cost broadcast_ring(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// (p+s-2)α + (N + (p-2)⌈N/s⌉)β with s = segments, which is (p+s-2)(α + nβ/s) if s divides N.
/// Nothing for p = 1.
Cost broadcast_ring_pipelined(int world_size, std::int64_t elements, std::int64_t element_bytes,
                              int segments);

/// (L+p-1)α + (N + (p-2)⌈N/p⌉)β, which is 2(p-1)/p nβ if p divides N. Nothing for p = 1.
Cost broadcast_scatter_allgather(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// The number of segments that makes broadcast_ring_pipelined fastest: √((p-2)nβ/α), rounded, and
/// at least 1.
int best_segments(int world_size, std::int64_t bytes, const Link& link);

// ---- Reduce ----------------------------------------------------------------------------------

/// (p-1)(α + nβ + nγ)
Cost reduce_naive(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// L(α + nβ + nγ)
Cost reduce_tree(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// 2lα + 2H(N, l)β + H(N, l)γ, and α + nβ + nγ more for folding if p is not a power of two.
Cost reduce_scatter_gather(int world_size, std::int64_t elements, std::int64_t element_bytes);

// ---- All-reduce ------------------------------------------------------------------------------

/// 2(p-1)(α + nβ) + (p-1)nγ
Cost allreduce_naive(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// 2L(α + nβ) + Lnγ
Cost allreduce_tree(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// l(α + nβ + nγ), and 2(α + nβ) + nγ more for folding if p is not a power of two.
Cost allreduce_butterfly(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// 2(p-1)(α + ⌈N/p⌉β) + (p-1)⌈N/p⌉γ
Cost allreduce_ring(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// 2(p-1)s(α + mβ) + (p-1)s mγ with s = segments of m = ⌈⌈N/p⌉/s⌉ elements. Additions overlap with
/// messages, so the time is not the sum. If ps does not divide N, β and γ may have less.
Cost allreduce_ring_segmented(int world_size, std::int64_t elements, std::int64_t element_bytes,
                              int segments);

/// The seconds that allreduce_ring_segmented takes: those of its messages, and of its additions
/// what messages do not hide: all, (p-1)mγ, for one segment; (p-1)s max(0, mγ - α - mβ) for more.
double allreduce_ring_segmented_seconds(int world_size, std::int64_t elements,
                                        std::int64_t element_bytes, int segments, const Link& link,
                                        double gamma);

/// The number of segments that makes allreduce_ring_segmented fastest: 2 if additions take longer
/// than the messages that this adds, n/p γ > 2α; else 1. More than 2 hide no more.
int best_ring_segments(int world_size, std::int64_t bytes, const Link& link, double gamma);

/// What the reference takes, of messages of m = ⌈⌈N/2⌉/s⌉ elements with s = segments and
/// D = ⌊log2 p⌋: (4s + 6(D-1))(α + mβ), or three messages fewer if p is a power of two; for s = 1
/// at most 4D(α + mβ). For p = 2, 2s(α + mβ). Of additions, which overlap, the longest chain:
/// (2s + 3(D-1))mγ, for s = 1 2D mγ, and one fewer if p is a power of two. For p = 2, s mγ. Where
/// p is no power of two and s >= 8, the chain may have two more.
Cost allreduce_double_tree(int world_size, std::int64_t elements, std::int64_t element_bytes,
                           int segments);

/// The seconds that allreduce_double_tree takes: those of its messages, and of its additions what
/// messages do not hide: D mγ for one segment; for more 2mγ if p is a power of two, else none; s mγ
/// for p = 2. Exact for s >= 2 segments of equal size, and at most so for s = 1, as long as an
/// addition takes no longer than a message. Where it does, about.
double allreduce_double_tree_seconds(int world_size, std::int64_t elements,
                                     std::int64_t element_bytes, int segments, const Link& link,
                                     double gamma);

/// The number of segments, a power of two up to 1024, that makes allreduce_double_tree fastest. It
/// is near √(6(D-1)nβ/(8α)), which makes (4s + 6(D-1))(α + nβ/(2s)) least.
int best_tree_segments(int world_size, std::int64_t bytes, const Link& link, double gamma);

/// 2lα + 2H(N, l)β + H(N, l)γ, and 2(α + nβ) + nγ more for folding if p is not a power of two.
Cost allreduce_rabenseifner(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// reduce_scatter_ring and allgather_ring of the m = p/nodes ranks of a node, and between them
/// allreduce_rabenseifner of `nodes` ranks with ⌈N/m⌉ elements. If m does not divide N, β and γ may
/// have less.
///
/// REQUIRES: nodes >= 1 divides world_size. Links between nodes are counted like all others.
Cost allreduce_hierarchical(int world_size, std::int64_t elements, std::int64_t element_bytes,
                            int nodes);

}  // namespace rankbox::cost
