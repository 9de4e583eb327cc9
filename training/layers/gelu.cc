#include "training/layers/gelu.h"

#include <numbers>

#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>

#include "training/flat_view.h"
#include "training/rows.h"

namespace rankbox {
namespace {

template <class T, class X>
auto normal_distribution(const X& x) {
  return T{0.5} * (T{1} + xt::erf(x * (T{1} / std::numbers::sqrt2_v<T>)));
}

// Not a local of the function below: an expression of xtensor refers to the variables in it.
template <class T>
constexpr T kDensityAtZero = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;

template <class T, class X>
auto normal_density(const X& x) {
  return kDensityAtZero<T> * xt::exp(T{-0.5} * x * x);
}

}  // namespace

template <class T>
TensorOf<T> GeluOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  TensorOf<T> y = empty_like(x);
  const auto xs = flat_view<const T>(x);
  auto ys = flat_view<T>(y);
  xt::noalias(ys) = xs * normal_distribution<T>(xs);
  saved.push(std::move(x));
  return y;
}

template <class T>
TensorOf<T> GeluOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<T> x = saved.pop();
  check_same_size("gelu", dy.size(), x.size());
  const auto xs = flat_view<const T>(x);
  auto dys = flat_view<T>(dy);
  xt::noalias(dys) = dys * (normal_distribution<T>(xs) + xs * normal_density<T>(xs));
  return dy;
}

template class GeluOf<float>;
template class GeluOf<double>;

}  // namespace rankbox
