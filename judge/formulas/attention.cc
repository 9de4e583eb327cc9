#include <cmath>

#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>

#include "judge/formulas/arrays.h"
#include "judge/formulas/formulas.h"

namespace rankbox::formula {

namespace {

/// a [n, d] times b [m, d], transposed: [n, m].
Array times_transposed(const Array& a, const Array& b) {
  return xt::sum(xt::view(a, xt::all(), xt::newaxis()) * xt::view(b, xt::newaxis(), xt::all()),
                 {2});
}

Array softmax_of_rows(const Array& x) {
  const Array largest = xt::amax(x, {1}, xt::keep_dims);
  const Array powers = xt::exp(x - largest);
  const Array sum = xt::sum(powers, {1}, xt::keep_dims);
  return powers / sum;
}

}  // namespace

TensorOf<double> attention(const TensorOf<double>& x_tensor, std::int64_t heads) {
  const Array x = array_of(x_tensor);
  const std::int64_t d = x_tensor.shape().extents()[2] / heads / 3;
  Array y = xt::zeros<double>({x.shape()[0], x.shape()[1], x.shape()[2] / 3});
  for (std::size_t sample = 0; sample < x.shape()[0]; ++sample) {
    for (std::int64_t head = 0; head < heads; ++head) {
      const auto piece = [&](std::int64_t which) -> Array {
        const std::int64_t begin = (3 * head + which) * d;
        return xt::view(x, sample, xt::all(), xt::range(begin, begin + d));
      };
      const Array q = piece(0), k = piece(1), v = piece(2);
      const Array scores = times_transposed(q, k) / std::sqrt(static_cast<double>(d));
      xt::view(y, sample, xt::all(), xt::range(head * d, (head + 1) * d)) =
          times_transposed(softmax_of_rows(scores), xt::transpose(v));
    }
  }
  return tensor_of(y);
}

}  // namespace rankbox::formula
