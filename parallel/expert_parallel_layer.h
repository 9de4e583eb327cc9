// expert_parallel_layer: a layer of experts that learns, its experts spread over the ranks.
//
// moe_dispatch_combine, without a capacity, and its way back. The gates are part of the model: the
// router is a linear layer without a bias, the same on every rank.
//
//   scores = x Rᵀ     gates of a token: its probabilities of the k experts that it chose
//   y_t = Σ_j gate_tj · (x_t W_e)        e = the j-th choice of t
//
// In the backward pass the same rows travel the same ways: derivatives go to the experts and come
// back. What an expert needs of x is still there, and so are counts and the order of the rows.
//
//   forward      1. scores, choices, rows by expert             rows_by_expert()
//                2. all_to_all of E counts
//                3. all_to_all_v: rows to their experts         apply_experts()
//                4. all_to_all_v: results back                  y = Σ gate · result
//   backward     5. of each row: gate · dy_t, and dy_t · result: the derivative by its gate
//                6. all_to_all_v: gate · dy to the experts      apply_experts_backward()
//                7. all_to_all_v: derivatives by x back
//                8. scores_backward(), the router's backward, and a sum of its gradient: all_reduce
//
// x gets derivatives on two ways: through the experts, and through the gates. An expert's gradient
// is complete where the expert is, since rows of all ranks are there. That of the router is not:
// each rank has the share of its tokens. Gradients that were there before stay, once.
//
// A rank may have no tokens, and an expert may get none: collectives take place all the same.
//
// Cost: forward a native all_to_all of 8E bytes, and two native all_to_all_v of the rows, 4h bytes
// each. Backward two native all_to_all_v of as many, and a native all-reduce of 4Eh bytes, in the
// order above. The sum may be added to what was there.
// Blocks: until all ranks have called it.
// Difficulty 4/5. Importance 5/5.
// Papers: Lepikhin et al., GShard, 2020; Fedus, Zoph and Shazeer, Switch Transformers, 2021.
#pragma once

#include "comm/comm.h"
#include "parallel/direction.h"
#include "parallel/routing.h"
#include "training/layers/linear.h"

namespace rankbox {

/// A rank's part of a layer of experts. It holds references, and owns nothing.
struct ExpertLayer {
  Linear& router;      // R [E, h], no bias, whole
  Parameter& weights;  // [E/p, h, h] of this rank's experts: y = x W
  int k;               // how many experts each token chooses

  std::vector<Parameter*> parameters() { return {&router.weight, &weights}; }
};

/// Forward: `tensor` is x [tokens, h] of this rank, and becomes y.
/// Backward: it is dy, and becomes dx; adds to the gradients of both parameters: the derivatives by
/// them of all ranks' tokens together.
///
/// @param saved as layers use it: forward pushes what backward pops
/// REQUIRES: every rank calls it in the same direction, with its part of the same layer. p divides
/// E.
/// Errors: as Linear and choose_experts.
void expert_parallel_layer(Comm& dist, ExpertLayer& layer, Direction direction, Tensor& tensor,
                           Saved& saved);

}  // namespace rankbox
