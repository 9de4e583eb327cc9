// moe_dispatch_combine: tokens go to their experts, wherever these are, and the results come back.
//
// Of E experts each rank has E/p, in order: expert e is on rank e / (E/p). A token goes to its k
// best ones, as a row each, and its output is the sum of what they make of it, by their gates:
//
//   y_t = Σ_j gate_tj · (x_t W_e)     e = experts[t · k + j], gate_tj = gates[t · k + j]
//
// An expert takes at most `capacity` rows of each rank: first choices before second ones, and of
// these in the order of the tokens. Choices beyond that are dropped, and contribute 0.
//
//   p = 2, E = 4, k = 2, capacity 1     experts of the tokens     rows for 0 1 | 2 3
//   rank 0, tokens a b                  a: 0 2    b: 2 0          a . | b .     second choices: full
//   rank 1, token c                     c: 2 1                    . c | c .
//
//   1. the rows, by expert, and how many for each
//   2. all_to_all of E counts: E/p for each rank
//   3. all_to_all_v of the rows: they come by rank, and from each rank by expert
//   4. the experts, apply_experts()
//   5. all_to_all_v back, with the counts swapped: rows come back in the order of 1.
//   6. y = Σ gate · row, add_rows_at()
//
// A rank may have no tokens, and an expert may get none.
//
// Build on choose_experts, rows_at, apply_experts and add_rows_at (parallel/routing.h), and on
// dist.all_to_all of std::int64_t and dist.all_to_all_v.
//
// Cost: a native all_to_all of 8E bytes, and two native all_to_all_v of the rows that are not
// dropped, 4h bytes each.
// Blocks: until all ranks have called it.
// Difficulty 4/5. Importance 5/5.
// Papers: Lepikhin et al., GShard, 2020; Fedus, Zoph and Shazeer, Switch Transformers, 2021.
#pragma once

#include <cstdint>

#include "comm/comm.h"
#include "parallel/routing.h"

namespace rankbox {

/// y becomes the output of the experts for this rank's tokens.
///
/// @param x [tokens, h] of this rank
/// @param scores [tokens, E] of this rank's tokens
/// @param weights [E/p, h, h] of this rank's experts: y = x W
/// @param k how many experts each token chooses
/// @param capacity how many rows an expert takes of each rank, 0 or more
/// @param y [tokens, h]
/// REQUIRES: every rank calls it, with the same E, h, k and capacity. p divides E.
void moe_dispatch_combine(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& weights,
                          int k, std::int64_t capacity, Tensor& y);

}  // namespace rankbox
