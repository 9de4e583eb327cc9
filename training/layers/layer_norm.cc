#include "training/layers/layer_norm.h"

#include <cmath>

#include "training/rows.h"

namespace rankbox {

template <class T>
LayerNormOf<T>::LayerNormOf(std::int64_t width, double epsilon)
    : gamma{"gamma", full<T>(width, 1)},
      beta{"beta", zeros<T>(width)},
      width_(width),
      epsilon_(epsilon) {}

template <class T>
TensorOf<T> LayerNormOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const std::int64_t rows = rows_of(x.shape(), width_, "layer_norm").count;
  TensorOf<T> statistics({rows, 2});  // mean and 1/√(variance + ε)
  TensorOf<T> y = empty_like(x);
  const auto width = static_cast<T>(width_);
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const from = x.data() + row * width_;
    T mean = 0, variance = 0;
    for (std::int64_t i = 0; i < width_; ++i) mean += from[i];
    mean /= width;
    for (std::int64_t i = 0; i < width_; ++i) variance += (from[i] - mean) * (from[i] - mean);
    const T inverse = 1 / std::sqrt(variance / width + static_cast<T>(epsilon_));

    T* const to = y.data() + row * width_;
    for (std::int64_t i = 0; i < width_; ++i)
      to[i] = (from[i] - mean) * inverse * gamma.value.data()[i] + beta.value.data()[i];
    statistics.data()[2 * row] = mean;
    statistics.data()[2 * row + 1] = inverse;
  }
  saved.push(std::move(x));
  saved.push(std::move(statistics));
  return y;
}

template <class T>
TensorOf<T> LayerNormOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<T> statistics = saved.pop();
  TensorOf<T> x = saved.pop();
  check_same_size("layer_norm", dy.size(), x.size());
  T* const dgamma = gradient_of(gamma).data();
  T* const dbeta = gradient_of(beta).data();
  const std::int64_t rows = x.size() / width_;
  const auto width = static_cast<T>(width_);
  for (std::int64_t row = 0; row < rows; ++row) {
    const T mean = statistics.data()[2 * row];
    const T inverse = statistics.data()[2 * row + 1];
    T* const normalized = x.data() + row * width_;
    T* const g = dy.data() + row * width_;  // becomes γ dy, then dx
    T sum = 0, product = 0;
    for (std::int64_t i = 0; i < width_; ++i) {
      normalized[i] = (normalized[i] - mean) * inverse;
      dbeta[i] += g[i];
      dgamma[i] += g[i] * normalized[i];
      g[i] *= gamma.value.data()[i];
      sum += g[i];
      product += g[i] * normalized[i];
    }
    for (std::int64_t i = 0; i < width_; ++i)
      g[i] = inverse * (g[i] - sum / width - normalized[i] * product / width);
  }
  return dy;
}

template class LayerNormOf<float>;
template class LayerNormOf<double>;

}  // namespace rankbox
