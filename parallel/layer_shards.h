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
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "comm/tensor.h"
#include "training/layers/linear.h"

namespace rankbox {

/// Rows [n·r/p, n·(r+1)/p) of a matrix of n rows, or elements of a vector of n.
inline Tensor row_part(const Tensor& whole, int rank, int world_size) {
  std::vector<std::int64_t> extents = whole.shape().extents();
  const std::int64_t begin = extents[0] * rank / world_size;
  const std::int64_t end = extents[0] * (rank + 1) / world_size;
  const std::int64_t width = whole.size() / std::max<std::int64_t>(extents[0], 1);
  extents[0] = end - begin;
  Tensor part((Shape(extents)));
  std::copy(whole.data() + begin * width, whole.data() + end * width, part.data());
  return part;
}

/// Columns [n·r/p, n·(r+1)/p) of rows of n elements, for any extents before the last.
inline Tensor column_part(const Tensor& whole, int rank, int world_size) {
  std::vector<std::int64_t> extents = whole.shape().extents();
  const std::int64_t width = extents.back();
  const std::int64_t begin = width * rank / world_size;
  const std::int64_t end = width * (rank + 1) / world_size;
  extents.back() = end - begin;
  Tensor part((Shape(extents)));
  float* to = part.data();
  for (std::int64_t at = 0; at < whole.size(); at += width)
    to = std::copy(whole.data() + at + begin, whole.data() + at + end, to);
  return part;
}

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

}  // namespace rankbox
