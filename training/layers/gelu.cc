#include "training/layers/gelu.h"

#include <cmath>
#include <numbers>

#include "compute/for_each.h"
#include "training/rows.h"

namespace rankbox {
namespace {

template <class T>
RANKBOX_PORTABLE T normal_distribution(T x) {
  return T{0.5} * (T{1} + std::erf(x * (T{1} / std::numbers::sqrt2_v<T>)));
}

template <class T>
RANKBOX_PORTABLE T normal_density(T x) {
  constexpr T kAtZero = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
  return kAtZero * std::exp(T{-0.5} * x * x);
}

}  // namespace

template <class T>
TensorOf<T> GeluOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  TensorOf<T> y = empty_like(x);
  const T* const xs = x.data();
  T* const ys = y.data();
  for_each(x.size(),
           [=] RANKBOX_PORTABLE(std::int64_t i) { ys[i] = xs[i] * normal_distribution(xs[i]); });
  saved.push(std::move(x));
  return y;
}

template <class T>
TensorOf<T> GeluOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<T> x = saved.pop();
  check_same_size("gelu", dy.size(), x.size());
  const T* const xs = x.data();
  T* const dys = dy.data();
  for_each(x.size(), [=] RANKBOX_PORTABLE(std::int64_t i) {
    dys[i] = dys[i] * (normal_distribution(xs[i]) + xs[i] * normal_density(xs[i]));
  });
  return dy;
}

template class GeluOf<float>;
template class GeluOf<double>;

}  // namespace rankbox
