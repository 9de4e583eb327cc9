#include "parallel/sync_batch_norm.h"

#include <cmath>

#include "compute/for_each.h"
#include "compute/sum_columns.h"

namespace rankbox {

void sync_batch_norm(Comm& dist, const Tensor& x, const Tensor& dy, float epsilon, Tensor& y,
                     Tensor& dx) {
  const std::int64_t rows = x.shape().extents()[0];
  const std::int64_t features = x.shape().extents()[1];
  const float *const xs = x.data(), *const dys = dy.data();
  float *const ys = y.data(), *const dxs = dx.data();

  // 1. Forward: mean and variance of all ranks' samples.
  TensorOf<double> sums = zeros<double>(2 * features + 1);
  double *const sum = sums.data(), *const squares = sum + features;
  const double* const count = sum + 2 * features;
  sum_columns(
      rows, features,
      [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t f) {
        const double value = xs[row * features + f];
        return Pair<double>{value, value * value};
      },
      sum, squares);
  copy(Slice(sums).sub(2 * features, 2 * features + 1), full<double>(1, static_cast<double>(rows)));
  dist.all_reduce(sums, ReduceOp::SUM);

  TensorOf<double> statistics({2, features});
  double *const mean = statistics.data(), *const scale = mean + features;
  for_each(features, [=] RANKBOX_PORTABLE(std::int64_t f) {
    mean[f] = sum[f] / *count;
    scale[f] = 1 / std::sqrt(squares[f] / *count - mean[f] * mean[f] + epsilon);
  });
  for_each(rows, features, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t f) {
    const std::int64_t i = row * features + f;
    ys[i] = static_cast<float>((xs[i] - mean[f]) * scale[f]);
  });

  // 2. Backward: every sample affects the mean and the variance, and through them all others.
  TensorOf<double> gradient_sums = zeros<double>(2 * features);
  double *const dy_sum = gradient_sums.data(), *const dy_y_sum = dy_sum + features;
  sum_columns(
      rows, features,
      [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t f) {
        const std::int64_t i = row * features + f;
        return Pair<double>{dys[i], double{dys[i]} * ys[i]};
      },
      dy_sum, dy_y_sum);
  dist.all_reduce(gradient_sums, ReduceOp::SUM);
  for_each(rows, features, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t f) {
    const std::int64_t i = row * features + f;
    const double through_mean = dy_sum[f] / *count;
    const double through_variance = ys[i] * dy_y_sum[f] / *count;
    dxs[i] = static_cast<float>((dys[i] - through_mean - through_variance) * scale[f]);
  });
}

}  // namespace rankbox
