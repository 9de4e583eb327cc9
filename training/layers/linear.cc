#include "training/layers/linear.h"

#include <cmath>

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/matrix.h"
#include "training/initial.h"
#include "training/layers/bias.h"
#include "training/rows.h"

namespace rankbox {

template <class T>
LinearOf<T>::LinearOf(std::int64_t in, std::int64_t out, Random random)
    : weight{"weight", random_tensor<T>({out, in}, 1 / std::sqrt(in), random.stream("weight"))},
      bias{"bias", random_tensor<T>(out, 1 / std::sqrt(in), random.stream("bias"))},
      in_(in),
      out_(out) {}

template <class T>
LinearOf<T>::LinearOf(TensorOf<T> weights, TensorOf<T> biases)
    : weight{"weight", std::move(weights)},
      bias{"bias", std::move(biases)},
      in_(0),
      out_(0),
      has_bias_(!bias.value.empty()) {
  const std::vector<std::int64_t>& extents = weight.value.shape().extents();
  if (extents.size() != 2 || (has_bias_ && bias.value.size() != extents[0])) {
    throw InvalidArgument(fmt::format("linear: weights of shape {} and {} biases",
                                      to_string(weight.value.shape()), bias.value.size()));
  }
  out_ = extents[0];
  in_ = extents[1];
}

template <class T>
std::vector<ParameterOf<T>*> LinearOf<T>::parameters() {
  if (!has_bias_) return {&weight};
  return {&weight, &bias};
}

template <class T>
TensorOf<T> LinearOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  TensorOf<T> y(with_width(rows_of(x.shape(), in_, "linear"), out_));
  if (has_bias_) fill_rows(as_matrix(y, out_), bias.value.data());
  multiply(as_matrix(std::as_const(x), in_), as_matrix(weight.value, in_).transposed(),
           as_matrix(y, out_), has_bias_ ? Into::kAdd : Into::kOverwrite);
  saved.push(std::move(x));
  return y;
}

template <class T>
TensorOf<T> LinearOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  TensorOf<T> x = saved.pop();
  check_same_size("linear", dy.size(), x.size() / in_ * out_);
  const auto add_gradients = [this](const TensorOf<T>& input, const TensorOf<T>& by_output) {
    const auto rows = as_matrix(by_output, out_);
    multiply(rows.transposed(), as_matrix(input, in_), as_matrix(gradient_of(weight), in_),
             Into::kAdd);
    if (has_bias_) add_column_sums<T>(rows, gradient_of(bias).data());
  };
  // dx is room for the result, of x's shape
  const auto by_input = [&](TensorOf<T> dx) {
    multiply(as_matrix(dy, out_), as_matrix(weight.value, in_), as_matrix(dx, in_));
    return dx;
  };
  if (saved.postpones()) {
    TensorOf<T> dx;
    if (this->wants_dx()) dx = by_input(empty_like(x));
    saved.postpone(std::move(x), std::move(dy), add_gradients);
    return dx;
  }
  add_gradients(x, dy);
  if (!this->wants_dx()) return {};
  return by_input(std::move(x));  // x is needed only for gradients
}

template class LinearOf<float>;
template class LinearOf<double>;

}  // namespace rankbox
