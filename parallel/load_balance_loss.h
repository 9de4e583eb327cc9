// load_balance_loss: how unevenly a router uses its experts, over the tokens of all ranks.
//
// A router that likes an expert trains it more, and likes it better for that: soon it uses no
// other. So training adds a loss that is least where all experts are used alike:
//
//   loss = E · Σ_e f_e · P_e       f_e    share of the choices that fall on expert e
//                                  P_e    mean of its probability, over all tokens
//
// It is 1 where all experts are used alike, and E where one gets everything. Choices have no
// derivative: the gradient flows through P, and lowers what f says is used too much.
//
// f and P are means over all tokens: sums by a count. Sums can be added over ranks, the loss
// cannot: it is a product of two means. A rank may have any number of tokens, or none.
//
//   2 experts, k = 1       tokens on 0, 1     probabilities     alone
//   rank 0, 1 token        1 0                1 0               2 · (1 · 1 + 0 · 0) = 2
//   rank 1, 1 token        0 1                0 1               2
//   together               1 1                1 1               2 · (1/2 · 1/2 + 1/2 · 1/2) = 1
//
// Build on dist.all_reduce: one call, of 2E + 1 doubles. choose_experts and probabilities_of
// (parallel/routing.h) are given. If no rank has any token, the loss is 0.
//
// Cost: one native all-reduce of 16E + 8 bytes.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 4/5.
// Paper: Fedus, Zoph and Shazeer, Switch Transformers, 2021, section 2.2.
#pragma once

#include "comm/comm.h"
#include "parallel/routing.h"

namespace rankbox {

/// Every rank gets the loss of all ranks' tokens.
///
/// @param scores [tokens, E] of this rank's tokens
/// @param k how many experts each token chooses
/// REQUIRES: every rank calls it, with the same E and k.
void load_balance_loss(Comm& dist, const Tensor& scores, int k, double& loss);

}  // namespace rankbox
