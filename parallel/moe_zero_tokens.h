// moe_zero_tokens: a layer of experts that hangs where a rank, or an expert, has no token. Mend it.
//
// The layer is given, in the file to edit: one step, forward and backward, with k = 1 and without a
// capacity. It gives the right values as long as every rank has tokens and every expert gets some.
// In large runs that fails once in a thousand steps: a rank whose texts were all padding, an expert
// that nothing chose. Then some rank leaves out a collective, and all others wait for it.
//
//   forward     counts, rows to experts, experts, rows back     y = Σ gate · x W
//   backward    derivatives to experts, experts, back           dx, dweights
//   after it    how many rows each expert had, of all ranks     loads
//
// Backward is a chain of functions: each step of the forward pass makes a Variable, which has its
// rows and knows what to do with their derivative. What it was made from is called by it.
//
// Every rank makes every collective of a step, with no elements if need be. Derivatives are written
// also where there is nothing to derive: 0 for the weights of an expert without rows.
//
// Cost: a native all_to_all of 8E bytes, four native all_to_all_v of the rows, and a native
// all-reduce of 8E bytes.
// Blocks: until all ranks have called it.
// Difficulty 3/5. Importance 5/5.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/comm.h"
#include "parallel/routing.h"

namespace rankbox {

/// One step of the layer. Gates are constants: scores get no derivative.
///
/// @param x, dy [tokens, h] of this rank; dy is the derivative by y
/// @param scores [tokens, E] of this rank's tokens
/// @param weights [E/p, h, h] of this rank's experts: y = x W
/// @param y, dx become [tokens, h]
/// @param dweights becomes [E/p, h, h]: from the tokens of all ranks
/// @param loads becomes how many tokens chose each of the E experts, on all ranks together
/// REQUIRES: every rank calls it, with the same E and h. p divides E.
void moe_zero_tokens(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& weights,
                     const Tensor& dy, Tensor& y, Tensor& dx, Tensor& dweights,
                     std::vector<std::int64_t>& loads);

}  // namespace rankbox
