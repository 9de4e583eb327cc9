// Batch and layer normalization differ in the axis alone.
#include <cstddef>

#include <xtensor/xmath.hpp>

#include "judge/formulas/arrays.h"
#include "judge/formulas/formulas.h"

namespace rankbox::formula {

namespace {

/// @param axis along which elements are normalized together
Normalized normalize(const Array& x, const Array& dy, double epsilon, std::size_t axis) {
  if (x.size() == 0) return {tensor_of(x), tensor_of(x)};
  const auto mean = [axis](const auto& of) -> Array { return xt::mean(of, {axis}, xt::keep_dims); };

  const Array centered = x - mean(x);
  const Array scale = 1 / xt::sqrt(mean(xt::square(centered)) + epsilon);
  const Array y = centered * scale;
  const Array dx = (dy - mean(dy) - y * mean(dy * y)) * scale;
  return {tensor_of(y), tensor_of(dx)};
}

}  // namespace

Normalized batch_norm(const TensorOf<double>& x, const TensorOf<double>& dy, double epsilon) {
  return normalize(array_of(x), array_of(dy), epsilon, 0);
}

Normalized layer_norm(const TensorOf<double>& x, const TensorOf<double>& dy, double epsilon) {
  return normalize(array_of(x), array_of(dy), epsilon, 1);
}

}  // namespace rankbox::formula
