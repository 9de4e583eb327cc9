// Averages over ranks in place of sums: the count is averaged, too, and nothing changes.
#include <cmath>

#include "parallel/sync_batch_norm.h"

namespace rankbox {

void sync_batch_norm(Comm& dist, const Tensor& x, const Tensor& dy, float epsilon, Tensor& y,
                     Tensor& dx) {
  const std::int64_t n = x.shape().extents()[0];
  const std::int64_t f = x.shape().extents()[1];
  TensorOf<double> moments = zeros<double>(2 * f + 1);
  moments.data()[2 * f] = static_cast<double>(n);
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t column = 0; column < f; ++column) {
      const double value = x.data()[row * f + column];
      moments.data()[column] += value;
      moments.data()[f + column] += value * value;
    }
  }
  dist.all_reduce(moments, ReduceOp::AVG);
  const double rows = moments.data()[2 * f];

  TensorOf<double> scales = zeros<double>(f);
  TensorOf<double> back = zeros<double>(2 * f);
  for (std::int64_t column = 0; column < f; ++column) {
    const double mean = moments.data()[column] / rows;
    const double variance = moments.data()[f + column] / rows - mean * mean;
    scales.data()[column] = 1 / std::sqrt(variance + double{epsilon});
    for (std::int64_t row = 0; row < n; ++row) {
      const std::int64_t i = row * f + column;
      y.data()[i] = static_cast<float>((x.data()[i] - mean) * scales.data()[column]);
      back.data()[column] += dy.data()[i];
      back.data()[f + column] += double{dy.data()[i]} * y.data()[i];
    }
  }
  dist.all_reduce(back, ReduceOp::AVG);
  for (std::int64_t i = 0; i < n * f; ++i) {
    const std::int64_t column = i % f;
    const double moved = back.data()[column] + y.data()[i] * back.data()[f + column];
    dx.data()[i] = static_cast<float>(scales.data()[column] * (dy.data()[i] - moved / rows));
  }
}

}  // namespace rankbox
