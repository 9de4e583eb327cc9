#include "training/layers/layer_norm.h"

#include <cmath>

#include "compute/for_each_row.h"
#include "compute/sum_columns.h"
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
  const auto width = width_;
  const auto epsilon = static_cast<T>(epsilon_);
  const T *const xs = x.data(), *const scale = gamma.value.data(), *const shift = beta.value.data();
  T *const ys = y.data(), *const saves = statistics.data();
  for_each_row(rows, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    const T* const from = xs + row * width;
    T* const to = ys + row * width;
    const auto count = static_cast<T>(width);
    const T mean = lanes.sum<T>(width, [=](std::int64_t i) { return from[i]; }) / count;
    const T variance =
        lanes.sum<T>(width, [=](std::int64_t i) { return (from[i] - mean) * (from[i] - mean); });
    const T inverse = 1 / std::sqrt(variance / count + epsilon);
    lanes.each(width,
               [=](std::int64_t i) { to[i] = (from[i] - mean) * inverse * scale[i] + shift[i]; });
    lanes.each(1, [=](std::int64_t) {
      saves[2 * row] = mean;
      saves[2 * row + 1] = inverse;
    });
  });
  saved.push(std::move(x));
  saved.push(std::move(statistics));
  return y;
}

template <class T>
TensorOf<T> LayerNormOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<T> statistics = saved.pop();
  TensorOf<T> x = saved.pop();
  check_same_size("layer_norm", dy.size(), x.size());
  const auto width = width_;
  const std::int64_t rows = x.size() / width;
  const T *const saves = statistics.data(), *const scale = gamma.value.data();
  T *const xs = x.data(), *const dys = dy.data();
  sum_columns(
      rows, width,
      [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t i) {
        const T g = dys[row * width + i];
        return Pair<T>{g, g * ((xs[row * width + i] - saves[2 * row]) * saves[2 * row + 1])};
      },
      gradient_of(beta).data(), gradient_of(gamma).data());
  for_each_row(rows, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    const T mean = saves[2 * row], inverse = saves[2 * row + 1];
    const auto count = static_cast<T>(width);
    T* const normalized = xs + row * width;
    T* const g = dys + row * width;  // becomes γ dy, then dx
    lanes.each(width, [=](std::int64_t i) {
      normalized[i] = (normalized[i] - mean) * inverse;
      g[i] *= scale[i];
    });
    const auto sums = lanes.sum<Pair<T>>(width, [=](std::int64_t i) {
      return Pair<T>{g[i], g[i] * normalized[i]};
    });
    lanes.each(width, [=](std::int64_t i) {
      g[i] = inverse * (g[i] - sums.first / count - normalized[i] * sums.second / count);
    });
  });
  return dy;
}

template class LayerNormOf<float>;
template class LayerNormOf<double>;

}  // namespace rankbox
