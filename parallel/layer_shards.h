// A rank's part of a linear layer y = x Wᵀ + b, W [out, in], of which each rank keeps 1/p.
//
//   by columns of y: rows of W, and of b        by rows of W's transpose: columns of W, no b
//
//        in                                          in
//      +------+  rank 0                            +--+--+--+
//      +------+  rank 1   out                      |  |  |  |  out
//      +------+  rank 2                            +--+--+--+
//                                                   0  1  2
//
// They are copies: a rank that has its part may free the whole. Thread safety: like any value.
// Cost: on a GPU these calls return when their work is enqueued.
#pragma once

#include "comm/tensor.h"
#include "training/layers/linear.h"

namespace rankbox {

/// Rows [n·r/p, n·(r+1)/p) of a matrix of n rows, or elements of a vector of n.
Tensor row_part(const Tensor& whole, int rank, int world_size);

/// Columns [n·r/p, n·(r+1)/p) of rows of n elements, for any extents before the last.
Tensor column_part(const Tensor& whole, int rank, int world_size);

/// The part that produces this rank's columns of y.
inline Linear column_shard(const Linear& whole, int rank, int world_size) {
  return {row_part(whole.weight.value, rank, world_size),
          row_part(whole.bias.value, rank, world_size)};
}

/// The part that takes this rank's columns of x. It has no bias, which is added once, to the sum of
/// all ranks' products.
inline Linear row_shard(const Linear& whole, int rank, int world_size) {
  return {column_part(whole.weight.value, rank, world_size), Tensor()};
}

/// Adds the bias [out] to every row of y [rows, out]; backward, the rows of dy to its gradient.
/// Free in virtual time, as layers are. Errors: InvalidArgument unless y is rows of out elements.
void add_bias(Tensor& y, const Tensor& bias);
void add_bias_gradient(const Tensor& dy, Tensor& gradient);

}  // namespace rankbox
