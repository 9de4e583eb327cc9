#include "training/layers/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "training/rows.h"

namespace rankbox {

template <class T>
BatchNormOf<T>::BatchNormOf(std::int64_t channels, const BatchNormOptions& options)
    : gamma{"gamma", full<T>(channels, 1)},
      beta{"beta", zeros<T>(channels)},
      running_mean{"running_mean", zeros<T>(channels)},
      running_var{"running_var", full<T>(channels, 1)},
      channels_(channels),
      options_(options) {}

/// Mean and 1/√(variance + ε) of each channel of the batch; updates the running statistics.
template <class T>
TensorOf<T> BatchNormOf<T>::batch_statistics(const TensorOf<T>& x, std::int64_t rows) {
  TensorOf<double> sums = zeros<double>(2 * channels_ + 1);
  double* const sum = sums.data();
  double* const squares = sum + channels_;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const from = x.data() + row * channels_;
    for (std::int64_t c = 0; c < channels_; ++c) {
      const double value = from[c];
      sum[c] += value;
      squares[c] += value * value;
    }
  }
  sums.data()[2 * channels_] = static_cast<double>(rows);
  if (combine) combine(sums);

  const double count = sums.data()[2 * channels_];
  if (count == 0) return running_statistics();  // no sample on any rank: nothing to learn from
  const auto follow = [this](T& running, double now) {
    running += static_cast<T>(options_.momentum * (now - running));
  };
  TensorOf<T> statistics({2, channels_});
  for (std::int64_t c = 0; c < channels_; ++c) {
    const double mean = sum[c] / count;
    const double variance = std::max(squares[c] / count - mean * mean, 0.0);
    statistics.data()[c] = static_cast<T>(mean);
    statistics.data()[channels_ + c] = static_cast<T>(1 / std::sqrt(variance + options_.epsilon));
    follow(running_mean.value.data()[c], mean);
    if (count > 1) follow(running_var.value.data()[c], variance * count / (count - 1));
  }
  return statistics;
}

template <class T>
TensorOf<T> BatchNormOf<T>::running_statistics() const {
  TensorOf<T> statistics({2, channels_});
  for (std::int64_t c = 0; c < channels_; ++c) {
    statistics.data()[c] = running_mean.value.data()[c];
    const double variance = running_var.value.data()[c];
    statistics.data()[channels_ + c] = static_cast<T>(1 / std::sqrt(variance + options_.epsilon));
  }
  return statistics;
}

template <class T>
TensorOf<T> BatchNormOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const std::int64_t rows = rows_of(x.shape(), channels_, "batch_norm").count;
  TensorOf<T> statistics = saved.training() ? batch_statistics(x, rows) : running_statistics();
  // y = scale x + shift, with two numbers per channel.
  const T* const mean = statistics.data();
  const T* const inverse = mean + channels_;
  TensorOf<T> scale(channels_), shift(channels_);
  for (std::int64_t c = 0; c < channels_; ++c) {
    scale.data()[c] = gamma.value.data()[c] * inverse[c];
    shift.data()[c] = beta.value.data()[c] - mean[c] * scale.data()[c];
  }
  TensorOf<T> y = empty_like(x);
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const from = x.data() + row * channels_;
    T* const to = y.data() + row * channels_;
    for (std::int64_t c = 0; c < channels_; ++c)
      to[c] = scale.data()[c] * from[c] + shift.data()[c];
  }
  saved.push(std::move(x));
  saved.push(std::move(statistics));
  return y;
}

template <class T>
TensorOf<T> BatchNormOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<T> statistics = saved.pop();
  const TensorOf<T> x = saved.pop();
  check_same_size("batch_norm", dy.size(), x.size());
  const std::int64_t rows = dy.size() / channels_;
  const T* const mean = statistics.data();
  const T* const inverse = mean + channels_;

  // 1. What mean and variance depend on: sums over the batch, of dy and of dy · x normalized.
  TensorOf<double> sums = zeros<double>(2 * channels_ + 1);
  double* const of_dy = sums.data();
  double* const of_product = of_dy + channels_;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const dys = dy.data() + row * channels_;
    const T* const xs = x.data() + row * channels_;
    for (std::int64_t c = 0; c < channels_; ++c) {
      of_dy[c] += dys[c];
      of_product[c] += dys[c] * ((xs[c] - mean[c]) * inverse[c]);
    }
  }
  for (std::int64_t c = 0; c < channels_; ++c) {
    gradient_of(beta).data()[c] += static_cast<T>(of_dy[c]);
    gradient_of(gamma).data()[c] += static_cast<T>(of_product[c]);
  }
  sums.data()[2 * channels_] = static_cast<double>(rows);
  if (combine) combine(sums);

  // 2. dx = γ/√(variance + ε) · (dy - mean of dy - x normalized · mean of (dy · x normalized)),
  //    which is again a scale for each of dy and x and a shift, three numbers per channel.
  const double count = std::max(sums.data()[2 * channels_], 1.0);
  TensorOf<T> factors({3, channels_});
  T* const for_dy = factors.data();
  T* const for_x = for_dy + channels_;
  T* const shift = for_x + channels_;
  for (std::int64_t c = 0; c < channels_; ++c) {
    const double scale = double{gamma.value.data()[c]} * inverse[c];
    const double slope = scale * inverse[c] * of_product[c] / count;
    for_dy[c] = static_cast<T>(scale);
    for_x[c] = static_cast<T>(-slope);
    shift[c] = static_cast<T>(slope * mean[c] - scale * of_dy[c] / count);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    T* const to = dy.data() + row * channels_;
    const T* const xs = x.data() + row * channels_;
    for (std::int64_t c = 0; c < channels_; ++c)
      to[c] = for_dy[c] * to[c] + for_x[c] * xs[c] + shift[c];
  }
  return dy;
}

template class BatchNormOf<float>;
template class BatchNormOf<double>;

}  // namespace rankbox
