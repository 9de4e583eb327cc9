#include "parallel/clip_global_norm.h"

#include <cmath>

#include "compute/sum_columns.h"

namespace rankbox {

namespace {

/// sum[0] += the squares of all elements of the gradients.
void add_squares(const std::vector<Parameter*>& parameters, TensorOf<double>& sum) {
  for (const Parameter* parameter : parameters) {
    if (parameter->gradient.empty()) continue;
    const float* const gradient = parameter->gradient.data();
    const auto square = [=] RANKBOX_PORTABLE(std::int64_t i, std::int64_t /*column*/) {
      return double{gradient[i]} * double{gradient[i]};
    };
    sum_columns(parameter->gradient.size(), 1, square, sum.data());
  }
}

}  // namespace

void clip_global_norm(Comm& dist, const std::vector<Parameter*>& sharded,
                      const std::vector<Parameter*>& replicated, float max_norm, double& norm) {
  // 1. Each rank's squares, added over the ranks.
  TensorOf<double> sum = zeros<double>(1);
  add_squares(sharded, sum);
  dist.all_reduce(sum, ReduceOp::SUM);

  // 2. What all ranks have counts once.
  add_squares(replicated, sum);
  norm = std::sqrt(to_host(sum)[0]);

  // 3. The same factor for all gradients.
  const double factor = double{max_norm} / (norm + 1e-6);
  if (!std::isfinite(norm) || factor >= 1) return;
  for (const auto* parameters : {&sharded, &replicated}) {
    for (Parameter* parameter : *parameters) parameter->gradient *= static_cast<float>(factor);
  }
}

}  // namespace rankbox
