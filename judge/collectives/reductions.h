// Inputs and results of reductions: the shares of inputs.h, and among them the ends of what a float
// holds.
//
// Of every 32 elements these differ from the shares:
//   21   the smallest, which are subnormal. For AVG they are a few units in the last place, whose
//        sum p divides: only a sum that is divided at the end has that result
//   22   infinite. MAX: -inf on every rank, MIN: inf, so that no reduction can start from a number;
//        the others: inf on one rank
//   23   SUM and AVG: the largest whose sum is finite
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/reduce_op.h"
#include "comm/tensor.h"
#include "judge/case.h"
#include "judge/subject.h"

namespace rankbox {

/// Returns a rank's tensor: example.count elements, shaped() as inputs.h says.
Tensor reduction_input(const Case& example, int rank);

/// Compares with elements [begin, begin + shape.elements()) of the reduction of all ranks' tensors.
/// In worlds of more than kMostRanksOfShares, only the shape.
std::optional<Difference> compare_reduction(const std::string& what, const Tensor& actual,
                                            std::int64_t begin, const Shape& shape,
                                            const Case& example);

}  // namespace rankbox
