// Inputs with exact results, from which a wrong result can be traced back. They vary with the salt
// (salt.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "comm/reduce_op.h"
#include "comm/tensor.h"
#include "judge/verdict.h"

namespace rankbox {

/// Returns element i of a rank's tensor where elements are only moved. It is unique per rank and
/// index, and exact in float for i < 10000 and rank <= 1000. Under a salt, tensors with other
/// numbers have other elements.
float element(int rank, std::int64_t i, std::uint64_t tensor = 0);

/// Returns a tensor of element(rank, 0, tensor), element(rank, 1, tensor), …
Tensor elements_of(int rank, std::int64_t count, std::uint64_t tensor = 0);

/// Returns the tensor with its elements in two rows where their number is even and at least 4: a
/// result has the shape of its input, and a flat one shows.
Tensor shaped(Tensor flat);

/// Returns an unwritten output: NaN, which propagates through any computation.
Tensor poison(std::int64_t count);

/// The largest world whose sums of shares are exact.
inline constexpr int kMostRanksOfShares = 80;

/// Returns element i of a rank's tensor where elements are reduced. Every rank's share affects the
/// result. Results of up to 80 ranks are exact in float, except for the division of AVG. Under a
/// salt, and for more than 20 ranks, shares are random numbers, others in each tensor; without:
///   SUM, AVG   a power of two per rank, so that missing and doubled shares show
///   PRODUCT    powers of two with signs
///   MAX        negative numbers, so that zeros spoil the result; the maximum rotates over ranks
///   MIN        positive numbers, likewise
float share(ReduceOp op, int rank, std::int64_t i, int world_size, std::uint64_t tensor = 0);

/// Returns a tensor of share(op, rank, 0, world_size, tensor), …
Tensor shares_of(ReduceOp op, int rank, std::int64_t count, int world_size,
                 std::uint64_t tensor = 0);

/// Reduces share_of(0), share_of(1), …
template <class ShareOf>
float reduce_shares(ReduceOp op, int world_size, ShareOf share_of) {
  double result = share_of(0);
  for (int rank = 1; rank < world_size; ++rank) {
    const double next = share_of(rank);
    switch (op) {
      case ReduceOp::SUM:
      case ReduceOp::AVG:
        result += next;
        break;
      case ReduceOp::PRODUCT:
        result *= next;
        break;
      case ReduceOp::MAX:
        result = std::max(result, next);
        break;
      case ReduceOp::MIN:
        result = std::min(result, next);
        break;
    }
  }
  return static_cast<float>(op == ReduceOp::AVG ? result / world_size : result);
}

/// Returns element i of every rank's share.
std::vector<float> shares_at(ReduceOp op, std::int64_t i, int world_size, std::uint64_t tensor = 0);

/// Returns element i of the reduction over all ranks' shares.
float reduced(ReduceOp op, std::int64_t i, int world_size);

/// Returns the tolerance of a result, relative to reduced(): 0 except for AVG, which may be rounded
/// more than once.
float tolerance(ReduceOp op);

/// Describes the likely origin of a wrong value; empty if unknown. Of a reduction:
/// origin_of_reduction.h.
Hint origin_of_element(float value, int world_size, std::uint64_t tensor = 0);

}  // namespace rankbox
