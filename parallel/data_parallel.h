// data_parallel: one master and its helpers, as torch.nn.DataParallel has it, to see what it costs.
//
// The master (rank 0) has the batch and the model that is trained. In every step it lends the others
// everything:
//
//   1. replicate  the parameters, all of them, every step      broadcast, for each     Ψ bytes
//   2. scatter    the inputs                                   scatter
//   3.            every rank: forward on its part
//   4. gather     what came out, to the master, which computes gather
//                 the loss of the whole batch
//   5. scatter    the derivative of the loss by what came out  scatter
//   6.            every rank: backward on its part
//   7. reduce     the gradients, to the master: their sum      reduce, for each        Ψ bytes
//
// Nothing is averaged: the loss is that of the whole batch, and so its gradients are sums of the
// ranks' parts. The master alone steps its optimizer; nobody else needs one, nor an optimizer's state.
//
// Right, and simple to use: and everything goes through one rank, whose memory and links have to hold
// the whole batch, and twice Ψ a step. DDP (ddp_average_gradients) moves as much once, in one
// all-reduce that has no master, and can hide it behind the backward pass.
//
// Build on the native collectives, each as listed; parameters one by one, in their order.
//
// Cost: their sum.
// Blocks: until all ranks have called it, and beyond.
// Difficulty 2/5. Importance 2/5.
#pragma once

#include "comm/comm.h"
#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/sequential.h"

namespace rankbox {

/// Rank 0's gradients become those of the mean loss over its batch, added to what they were (zeros
/// count as empty ones). The parameters of all ranks become rank 0's.
///
/// @param batch rank 0's counts; elsewhere it is as large, and its values and labels mean nothing
/// REQUIRES: every rank calls it with models of the same layers, and gradients that are empty or zero;
/// the batch's size is a multiple of world_size.
void data_parallel(Comm& dist, Sequential& model, const Batch& batch);

}  // namespace rankbox
