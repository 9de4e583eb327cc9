// Is a layer's backward the derivative of its forward? Asked of finite differences, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "training/initial.h"
#include "training/layer.h"

namespace rankbox::testing {

/// A tensor of numbers in ±bound, all different: no ties that max would stumble over.
inline TensorOf<double> test_input(const Shape& shape, std::uint64_t seed = 1, double bound = 1) {
  return random_tensor<double>(shape, bound, Random(seed));
}

inline void put(TensorOf<double>& tensor, std::int64_t i, double value) {
  copy(Slice(tensor).sub(i, i + 1), from_host({value}));
}

/// Σ r·y: a loss whose derivative by y is r.
inline double loss_of(LayerOf<double>& layer, const TensorOf<double>& x,
                      const std::vector<double>& r, const Pass& pass) {
  SavedOf<double> saved(pass);
  const std::vector<double> y = to_host(layer.forward(x, saved));
  return std::inner_product(y.begin(), y.end(), r.begin(), 0.0);
}

/// Checks `claimed` against central differences of the loss by the elements of `by`: all of them,
/// or some hundred of many. Returns the largest derivative there is.
template <class LossFn>
double check_gradient(const std::string& what, TensorOf<double>& by,
                      const TensorOf<double>& claimed, LossFn loss) {
  CAPTURE(what);
  REQUIRE(claimed.size() == by.size());
  constexpr double kStep = 1e-5;  // error: kStep² · f''' + 1e-16 / kStep
  double largest = 0;
  const std::vector<double> values = to_host(by), claims = to_host(claimed);
  for (std::int64_t i = 0; i < by.size(); i += 1 + by.size() / 150) {
    const double at = values[static_cast<std::size_t>(i)];
    const double claim = claims[static_cast<std::size_t>(i)];
    put(by, i, at + kStep);
    const double above = loss();
    put(by, i, at - kStep);
    const double below = loss();
    put(by, i, at);
    const double measured = (above - below) / (2 * kStep);
    largest = std::max(largest, std::abs(measured));
    if (std::abs(measured - claim) <= 1e-7 * (1 + std::abs(measured))) continue;
    CAPTURE(i);
    CHECK(claim == doctest::Approx(measured).epsilon(1e-7));
  }
  return largest;
}

/// Checks the gradients of the input, unless it is one of whole numbers, and of every parameter.
inline void check_gradients(LayerOf<double>& layer, TensorOf<double> x, const Pass& pass = {},
                            bool of_input = true) {
  SavedOf<double> saved(pass);
  const Shape shape = layer.forward(x, saved).shape();
  const TensorOf<double> r = test_input(shape, 2);
  for (ParameterOf<double>* parameter : layer.parameters()) parameter->gradient = {};
  const TensorOf<double> dx = layer.backward(r, saved);
  CHECK(saved.empty());

  double largest = 0;  // derivatives of 0 everywhere would agree with a layer that does nothing
  const std::vector<double> weights = to_host(r);
  const auto loss = [&] { return loss_of(layer, x, weights, pass); };
  if (of_input) {
    CHECK(dx.shape() == x.shape());
    largest = check_gradient("x", x, dx, loss);
  }
  for (ParameterOf<double>* parameter : layer.parameters()) {
    largest = std::max(
        largest, check_gradient(parameter->name, parameter->value, parameter->gradient, loss));
  }
  CHECK(largest > 1e-6);
}

}  // namespace rankbox::testing
