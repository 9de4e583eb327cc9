// Primitives of compute/ at work, for their tests: lambdas that nvcc compiles where a GPU is meant.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/tensor.h"
#include "compute/portable.h"

namespace rankbox::testing {

/// i² for 0 <= i < n.
std::vector<double> squares(std::int64_t n);

/// 100 · row + column for all of a grid.
std::vector<std::int64_t> places(std::int64_t rows, std::int64_t columns);

/// For each row of x [rows, width]: the sum, the sum of squares, the largest, and all elements
/// times two.
struct RowResults {
  std::vector<double> sums, squares, largest;
  std::vector<float> doubled;
};
RowResults of_rows(const Tensor& x, std::int64_t width);

/// `before` and the sums of the columns of x; the same of their squares.
Pair<std::vector<double>> column_sums(const Tensor& x, std::int64_t columns, double before);
std::vector<float> column_sums_alone(const Tensor& x, std::int64_t columns, float before);

/// The place of the first element that is x.
std::int64_t first_that_is(const TensorOf<std::int32_t>& all, std::int32_t x);

/// table[targets[row]] += x[row].
std::vector<float> table_after(const TensorOf<std::int32_t>& targets, const Tensor& x,
                               std::int64_t width, std::int64_t entries);

/// What an address of the host's memory does on a GPU.
void read_from_host();

}  // namespace rankbox::testing
