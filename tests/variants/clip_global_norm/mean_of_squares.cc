// Adds the mean of the squares and multiplies by p; scales element by element, in doubles.
#include <cmath>

#include "parallel/clip_global_norm.h"

namespace rankbox {

namespace {

double squares_in(const Parameter& parameter) {
  double sum = 0;
  const float* const g = parameter.gradient.empty() ? nullptr : parameter.gradient.data();
  for (std::int64_t i = parameter.gradient.size(); i-- > 0;) sum += std::pow(double{g[i]}, 2);
  return sum;
}

void scale(const std::vector<Parameter*>& parameters, double norm, double max_norm) {
  for (Parameter* parameter : parameters) {
    if (parameter->gradient.empty()) continue;
    float* const g = parameter->gradient.data();
    for (std::int64_t i = 0; i < parameter->gradient.size(); ++i)
      g[i] = static_cast<float>(g[i] * max_norm / (norm + 1e-6));
  }
}

}  // namespace

void clip_global_norm(Comm& dist, const std::vector<Parameter*>& sharded,
                      const std::vector<Parameter*>& replicated, float max_norm, double& norm) {
  double mine = 0;
  double alike = 0;
  for (const Parameter* parameter : sharded) mine += squares_in(*parameter);
  for (const Parameter* parameter : replicated) alike += squares_in(*parameter);
  TensorOf<double> mean = full<double>(1, mine);
  dist.wait(dist.all_reduce_async(mean, ReduceOp::AVG));
  norm = std::sqrt(to_host(mean)[0] * dist.world_size() + alike);
  if (norm <= max_norm || !std::isfinite(norm)) return;
  scale(sharded, norm, max_norm);
  scale(replicated, norm, max_norm);
}

}  // namespace rankbox
