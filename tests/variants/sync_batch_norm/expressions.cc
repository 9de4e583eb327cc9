// As expressions over arrays: the lines of the formulas, with doubles of the same layout as sums.
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include "comm/xtensor.h"
#include "parallel/sync_batch_norm.h"

namespace rankbox {

void sync_batch_norm(Comm& dist, const Tensor& x_tensor, const Tensor& dy_tensor, float epsilon,
                     Tensor& y_tensor, Tensor& dx_tensor) {
  const auto x = as_xtensor(x_tensor), dy = as_xtensor(dy_tensor);
  const std::size_t features = x.shape()[1];

  TensorOf<double> sums(static_cast<std::int64_t>(2 * features + 1));
  auto all = as_xtensor(sums);
  auto sum = xt::view(all, xt::range(0, features));
  auto squares = xt::view(all, xt::range(features, 2 * features));
  const xt::xtensor<double, 2> values = x;
  sum = xt::sum(values, {0});
  squares = xt::sum(values * values, {0});
  all(2 * features) = static_cast<double>(x.shape()[0]);
  dist.all_reduce(sums, ReduceOp::SUM);

  const double n = all(2 * features);
  const xt::xtensor<double, 1> mean = sum / n;
  const xt::xtensor<double, 1> root = xt::sqrt(squares / n - mean * mean + double{epsilon});
  const xt::xtensor<double, 2> y = (values - mean) / root;
  as_xtensor(y_tensor) = xt::cast<float>(y);

  TensorOf<double> more(static_cast<std::int64_t>(2 * features));
  auto gradients = as_xtensor(more);
  auto dy_sum = xt::view(gradients, xt::range(0, features));
  auto dy_y_sum = xt::view(gradients, xt::range(features, 2 * features));
  dy_sum = xt::sum(dy * 1.0, {0});
  dy_y_sum = xt::sum(dy * y, {0});
  dist.all_reduce(more, ReduceOp::SUM);
  as_xtensor(dx_tensor) = xt::cast<float>((dy - dy_sum / n - y * (dy_y_sum / n)) / root);
}

}  // namespace rankbox
