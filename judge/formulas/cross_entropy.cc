#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>

#include "judge/formulas/arrays.h"
#include "judge/formulas/formulas.h"

namespace rankbox::formula {

LossOf<double> cross_entropy(const TensorOf<double>& logits, std::span<const std::int32_t> labels) {
  LossOf<double> loss;
  if (labels.empty()) return loss;
  const Array x = array_of(logits);
  const xt::xarray<std::int32_t> of_row =
      xt::adapt(std::vector<std::int32_t>(labels.begin(), labels.end()));
  const xt::xarray<std::int32_t> label = xt::view(of_row, xt::all(), xt::newaxis());

  const Array counts = xt::cast<double>(xt::not_equal(label, kIgnoredLabel));
  const Array wanted = xt::cast<double>(
      xt::equal(label, xt::arange<std::int32_t>(static_cast<std::int32_t>(x.shape()[1]))));
  const Array largest = xt::amax(x, {1}, xt::keep_dims);
  const Array shifted = x - largest;
  const Array powers = xt::exp(shifted);
  const Array sum = xt::sum(powers, {1}, xt::keep_dims);
  const Array of_label = xt::sum(wanted * shifted, {1}, xt::keep_dims);

  const double counted = xt::sum(counts)();
  loss.counted = static_cast<std::int64_t>(counted);
  loss.sum = xt::sum(counts * (xt::log(sum) - of_label))();
  loss.correct = static_cast<std::int64_t>(xt::sum(counts * xt::equal(of_label, 0.0))());
  const Array gradient = counts * (powers / sum - wanted) / (counted > 0 ? counted : 1);
  loss.gradient = tensor_of(gradient);
  return loss;
}

}  // namespace rankbox::formula
