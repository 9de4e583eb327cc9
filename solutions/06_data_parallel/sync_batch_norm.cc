#include "parallel/sync_batch_norm.h"

#include <cmath>
#include <vector>

namespace rankbox {

void sync_batch_norm(Comm& dist, const Tensor& x, const Tensor& dy, float epsilon, Tensor& y,
                     Tensor& dx) {
  const std::int64_t rows = x.shape().extents()[0];
  const std::int64_t features = x.shape().extents()[1];
  const auto for_all = [&](auto fn) {  // fn(element, feature)
    for (std::int64_t i = 0; i < rows * features; ++i) fn(i, i % features);
  };

  // 1. Forward: mean and variance of all ranks' samples.
  TensorOf<double> sums = zeros<double>(2 * features + 1);
  double* const sum = sums.data();
  double* const squares = sum + features;
  for_all([&](std::int64_t i, std::int64_t f) {
    const double value = x.data()[i];
    sum[f] += value;
    squares[f] += value * value;
  });
  sum[2 * features] = static_cast<double>(rows);
  dist.all_reduce(sums, ReduceOp::SUM);

  const double n = sum[2 * features];
  std::vector<double> mean, scale;
  for (std::int64_t f = 0; f < features; ++f) {
    mean.push_back(sum[f] / n);
    scale.push_back(1 / std::sqrt(squares[f] / n - mean.back() * mean.back() + epsilon));
  }
  for_all([&](std::int64_t i, std::int64_t f) {
    const auto k = static_cast<std::size_t>(f);
    y.data()[i] = static_cast<float>((x.data()[i] - mean[k]) * scale[k]);
  });

  // 2. Backward: every sample affects the mean and the variance, and through them all others.
  TensorOf<double> gradient_sums = zeros<double>(2 * features);
  double* const dy_sum = gradient_sums.data();
  double* const dy_y_sum = dy_sum + features;
  for_all([&](std::int64_t i, std::int64_t f) {
    dy_sum[f] += dy.data()[i];
    dy_y_sum[f] += double{dy.data()[i]} * y.data()[i];
  });
  dist.all_reduce(gradient_sums, ReduceOp::SUM);
  for_all([&](std::int64_t i, std::int64_t f) {
    const double through_mean = dy_sum[f] / n;
    const double through_variance = y.data()[i] * dy_y_sum[f] / n;
    dx.data()[i] = static_cast<float>((dy.data()[i] - through_mean - through_variance) *
                                      scale[static_cast<std::size_t>(f)]);
  });
}

}  // namespace rankbox
