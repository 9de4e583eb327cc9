// Inputs whose results are known exactly, and from which a wrong result can be traced back.
#pragma once

#include <cstdint>
#include <string>

#include "comm/reduce_op.h"
#include "comm/tensor.h"

namespace rankbox {

/// Element i of rank's tensor where elements are only moved: another one for every rank and index.
/// Exact in float for i < 10000 and rank <= 1000.
float element(int rank, std::int64_t i);

/// A tensor of element(rank, 0), element(rank, 1), …
Tensor elements_of(int rank, std::int64_t count);

/// What an output holds before it is written: NaN, which stays wrong whatever is done with it.
Tensor poison(std::int64_t count);

/// Element i of rank's tensor where elements are reduced. Every rank's share shows in the result,
/// and every result of up to 20 ranks is exact in float, AVG's but for the last division:
/// for SUM a power of two per rank, so that missing and doubled shares show; for PRODUCT powers of
/// two with signs; for MAX negative numbers and for MIN positive ones, so that a buffer of zeros
/// spoils them, with another rank's winning at every index.
float share(ReduceOp op, int rank, std::int64_t i, int world_size);

/// A tensor of share(op, rank, 0, world_size), …
Tensor shares_of(ReduceOp op, int rank, std::int64_t count, int world_size);

/// Element i of the reduction over all ranks' shares.
float reduced(ReduceOp op, std::int64_t i, int world_size);

/// How far from reduced() a result may be, relative to it: 0 but for AVG, where dividing before or
/// after adding rounds differently.
float tolerance(ReduceOp op);

/// Where a wrong value seems to come from, in words; empty if unknown.
std::string origin_of_element(float value, int world_size);
std::string origin_of_reduction(ReduceOp op, float value, std::int64_t i, int world_size);

}  // namespace rankbox
