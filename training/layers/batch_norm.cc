#include "training/layers/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "compute/for_each.h"
#include "compute/sum_columns.h"
#include "training/rows.h"

namespace rankbox {
namespace {

/// The last of the sums: how many rows they are sums of.
void set_count(TensorOf<double>& sums, std::int64_t rows) {
  detail::fill(Slice(sums).sub(sums.size() - 1, sums.size()), static_cast<double>(rows));
}

}  // namespace

template <class T>
BatchNormOf<T>::BatchNormOf(std::int64_t channels, const BatchNormOptions& options)
    : gamma{"gamma", full<T>(channels, 1)},
      beta{"beta", zeros<T>(channels)},
      running_mean{"running_mean", zeros<T>(channels)},
      running_var{"running_var", full<T>(channels, 1)},
      channels_(channels),
      options_(options) {}

template <class T>
TensorOf<T> BatchNormOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const std::int64_t rows = rows_of(x.shape(), channels_, "batch_norm").count;
  const std::int64_t channels = channels_;
  const T* const xs = x.data();

  // 1. Sums over the batch; none in evaluation.
  TensorOf<double> sums = zeros<double>(2 * channels + 1);
  double *const sum = sums.data(), *const squares = sum + channels;
  if (saved.training()) {
    sum_columns(
        rows, channels,
        [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t c) {
          const double value = xs[row * channels + c];
          return Pair<double>{value, value * value};
        },
        sum, squares);
    set_count(sums, rows);
    if (combine) combine(sums);
  }

  // 2. Mean and 1/√(variance + ε), and with them y = scale x + shift: two numbers per channel each.
  //    Without a sample on any rank, as in evaluation, the running statistics are used.
  TensorOf<T> statistics({2, channels}), factors({2, channels});
  const double epsilon = options_.epsilon, momentum = options_.momentum;
  T *const mean = statistics.data(), *const inverse = mean + channels;
  T *const scale = factors.data(), *const shift = scale + channels;
  T *const means = running_mean.value.data(), *const variances = running_var.value.data();
  const T *const gammas = gamma.value.data(), *const betas = beta.value.data();
  for_each(channels, [=] RANKBOX_PORTABLE(std::int64_t c) {
    const double count = sum[2 * channels];
    double center = means[c], variance = variances[c];
    if (count > 0) {
      center = sum[c] / count;
      variance = std::max(squares[c] / count - center * center, 0.0);
      means[c] += static_cast<T>(momentum * (center - means[c]));
      const double unbiased = variance * count / (count - 1);
      if (count > 1) variances[c] += static_cast<T>(momentum * (unbiased - variances[c]));
    }
    mean[c] = static_cast<T>(center);
    inverse[c] = static_cast<T>(1 / std::sqrt(variance + epsilon));
    scale[c] = gammas[c] * inverse[c];
    shift[c] = betas[c] - mean[c] * scale[c];
  });
  TensorOf<T> y = empty_like(x);
  T* const ys = y.data();
  for_each(rows, channels, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t c) {
    ys[row * channels + c] = scale[c] * xs[row * channels + c] + shift[c];
  });
  saved.push(std::move(x));
  saved.push(std::move(statistics));
  return y;
}

template <class T>
TensorOf<T> BatchNormOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<T> statistics = saved.pop();
  const TensorOf<T> x = saved.pop();
  check_same_size("batch_norm", dy.size(), x.size());
  const std::int64_t channels = channels_;
  const std::int64_t rows = dy.size() / channels;
  const T *const mean = statistics.data(), *const inverse = mean + channels;
  const T* const xs = x.data();
  T* const dys = dy.data();

  // 1. What mean and variance depend on: sums over the batch, of dy and of dy · x normalized.
  TensorOf<double> sums = zeros<double>(2 * channels + 1);
  double *const of_dy = sums.data(), *const of_product = of_dy + channels;
  sum_columns(
      rows, channels,
      [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t c) {
        const T g = dys[row * channels + c];
        return Pair<double>{g, g * ((xs[row * channels + c] - mean[c]) * inverse[c])};
      },
      of_dy, of_product);
  T *const dbeta = gradient_of(beta).data(), *const dgamma = gradient_of(gamma).data();
  for_each(channels, [=] RANKBOX_PORTABLE(std::int64_t c) {
    dbeta[c] += static_cast<T>(of_dy[c]);
    dgamma[c] += static_cast<T>(of_product[c]);
  });
  set_count(sums, rows);
  if (combine) combine(sums);

  // 2. dx = γ/√(variance + ε) · (dy - mean of dy - x normalized · mean of (dy · x normalized)),
  //    which is again a scale for each of dy and x and a shift, three numbers per channel.
  TensorOf<T> factors({3, channels});
  T *const for_dy = factors.data(), *const for_x = for_dy + channels,
           *const shift = for_x + channels;
  const T* const gammas = gamma.value.data();
  for_each(channels, [=] RANKBOX_PORTABLE(std::int64_t c) {
    const double count = std::max(of_dy[2 * channels], 1.0);
    const double scale = double{gammas[c]} * inverse[c];
    const double slope = scale * inverse[c] * of_product[c] / count;
    for_dy[c] = static_cast<T>(scale);
    for_x[c] = static_cast<T>(-slope);
    shift[c] = static_cast<T>(slope * mean[c] - scale * of_dy[c] / count);
  });
  for_each(rows, channels, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t c) {
    T& g = dys[row * channels + c];
    g = for_dy[c] * g + for_x[c] * xs[row * channels + c] + shift[c];
  });
  return dy;
}

template class BatchNormOf<float>;
template class BatchNormOf<double>;

}  // namespace rankbox
