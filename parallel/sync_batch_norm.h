// sync_batch_norm: batch norm over the batch of all ranks, forward and backward.
//
// Batch norm makes every feature's mean 0 and variance 1 over the batch. It is the one layer in
// which samples are not independent: a rank that sees only its own part normalizes with other
// numbers than one rank with the whole batch would, and with bad ones if it has few samples. So
// ranks add up sums and counts, and each normalizes its part with the mean and variance of all:
//
//   forward    mean = Σx / n    variance = Σx² / n - mean²     y = (x - mean) / √(variance + ε)
//   backward   dx = (dy - Σdy / n - y · Σ(dy · y) / n) / √(variance + ε)
//
// with sums over the n samples of all ranks, for every feature. A value that is not finite shows in
// all samples of its feature. Do not average the ranks' means or variances: ranks may have
// different numbers of samples, or none.
//
// The sums are doubles (TensorOf<double>), and so are mean, variance and x - mean: Σx²/n - mean²
// and x - mean are small differences of large numbers.
// PyTorch's SyncBatchNorm gathers (mean, 1/√variance, count) of each rank instead and merges them
// as Welford does, in floats. It also has a scale and a shift, and running statistics with the
// unbiased variance, n / (n-1) times as large; neither is part of this exercise.
//
// Build on dist.all_reduce, twice: forward, of 2F+1 doubles (for F features: sums, sums of squares,
// count); backward, of 2F.
//
// Cost: two native all-reduces of 8 (2F+1) and 16 F bytes: mostly latency, but for every such
// layer.
// Blocks: until all ranks have called it.
// Difficulty 3/5. Importance 3/5.
// Paper: Ioffe and Szegedy, Batch normalization, ICML 2015; Peng et al., MegDet, CVPR 2018, over
// ranks.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// y becomes x normalized, and dx the derivative of a loss by x, whose derivative by y is dy.
///
/// REQUIRES: every rank calls it with x, dy, y and dx of the shape {its samples, F}, F the same on
/// all ranks and at least 1; the same epsilon > 0.
void sync_batch_norm(Comm& dist, const Tensor& x, const Tensor& dy, float epsilon, Tensor& y,
                     Tensor& dx);

}  // namespace rankbox
