// data_parallel: one master and its workers, as in torch.nn.DataParallel, to see what it costs.
//
// The master (rank 0) has the batch and the model that is trained. In every step it scatters model
// and batch; only it runs the optimizer:
//
//   1. replicate  the parameters, all of them, every step      broadcast, for each     Ψ bytes
//   2. scatter    the inputs                                   scatter
//   3.            every rank: forward on its part
//   4. gather     the outputs, to the master, which computes   gather
//                 the loss of the whole batch
//   5. scatter    the derivative of the loss by the outputs    scatter
//   6.            every rank: backward on its part
//   7. reduce     the gradients, to the master: their sum      reduce, for each        Ψ bytes
//
// Nothing is averaged: the loss is that of the whole batch, so its gradients are sums over the
// ranks. Only the master takes an optimizer step; no other rank needs an optimizer or its state.
//
// It is right and simple to use. But everything goes through one rank: its memory has to hold the
// whole batch, and its links carry the batch and twice Ψ per step. DDP (ddp_average_gradients)
// moves as many bytes in an all-reduce without a master, and can hide it behind the backward pass.
//
// Build on the native collectives, each as listed; parameters one by one. A rank's inputs have the
// batch's shape, but for the number of samples.
//
// Cost: their sum.
// Blocks: until all ranks have called it and each collective has completed.
// Difficulty 2/5. Importance 2/5.
#pragma once

#include "comm/comm.h"
#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/sequential.h"

namespace rankbox {

/// Rank 0's gradients become those of the mean loss over its batch. The parameters of all ranks
/// become rank 0's.
///
/// @param batch only rank 0's is used; on other ranks it has the same size, and its values and
/// labels are ignored
/// REQUIRES: every rank calls it with models of the same layers, and gradients that are empty or
/// zero; the batch's size is a multiple of world_size.
void data_parallel(Comm& dist, Sequential& model, const Batch& batch);

}  // namespace rankbox
