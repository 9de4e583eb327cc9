// Sums lie side by side for each feature, the count comes first.
#include <cmath>
#include <vector>

#include "parallel/sync_batch_norm.h"

namespace rankbox {

void sync_batch_norm(Comm& dist, const Tensor& x, const Tensor& dy, float epsilon, Tensor& y,
                     Tensor& dx) {
  const auto extents = x.shape().extents();
  const auto rows = static_cast<std::size_t>(extents[0]);
  const auto features = static_cast<std::size_t>(extents[1]);
  std::vector<double> sums = {static_cast<double>(rows)};
  for (std::size_t f = 0; f < features; ++f) {
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const double value = x.data()[r * features + f];
      sum += value;
      squares += value * value;
    }
    sums.insert(sums.end(), {sum, squares});
  }
  auto all = from_host(sums);
  dist.all_reduce(all);
  sums = to_host(all);

  std::vector<double> scale, products;
  for (std::size_t f = 0; f < features; ++f) {
    const double mean = sums[1 + 2 * f] / sums[0];
    scale.push_back(1 / std::sqrt(sums[2 + 2 * f] / sums[0] - mean * mean + epsilon));
    double sum = 0, product = 0;
    for (std::size_t i = f; i < rows * features; i += features) {
      y.data()[i] = static_cast<float>((x.data()[i] - mean) * scale[f]);
      sum += dy.data()[i];
      product += static_cast<double>(dy.data()[i]) * y.data()[i];
    }
    products.insert(products.end(), {sum, product});
  }
  auto all_products = from_host(products);
  dist.wait(dist.all_reduce_async(all_products));
  products = to_host(all_products);
  for (std::size_t i = 0; i < rows * features; ++i) {
    const std::size_t f = i % features;
    const double mean = products[2 * f] / sums[0];
    const double along_y = products[2 * f + 1] / sums[0];
    dx.data()[i] = static_cast<float>((dy.data()[i] - mean - y.data()[i] * along_y) * scale[f]);
  }
}

}  // namespace rankbox
