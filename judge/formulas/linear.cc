#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>

#include "judge/formulas/arrays.h"
#include "judge/formulas/formulas.h"

namespace rankbox::formula {

TensorOf<double> linear(const TensorOf<double>& x, const TensorOf<double>& weight,
                        const TensorOf<double>& bias) {
  const Array rows = array_of(x), weights = array_of(weight);
  const auto products =
      xt::view(rows, xt::all(), xt::newaxis(), xt::all()) * xt::view(weights, xt::newaxis());
  const Array y = xt::sum(products, {2});
  return tensor_of(y + array_of(bias));
}

}  // namespace rankbox::formula
