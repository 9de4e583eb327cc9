// Replicated gradients are in the sum of rank 0 alone; gradients are read in host memory.
#include <algorithm>
#include <cmath>

#include "parallel/clip_global_norm.h"

namespace rankbox {

void clip_global_norm(Comm& dist, const std::vector<Parameter*>& sharded,
                      const std::vector<Parameter*>& replicated, float max_norm, double& norm) {
  std::vector<Parameter*> counted = sharded;
  if (dist.rank() == 0) counted.insert(counted.end(), replicated.begin(), replicated.end());
  double squares = 0;
  for (const Parameter* parameter : counted) {
    for (const double each : to_host(parameter->gradient)) squares += each * each;
  }
  TensorOf<double> all = from_host({squares});
  dist.all_reduce(all, ReduceOp::SUM);
  norm = std::sqrt(to_host(all).front());
  if (!std::isfinite(norm)) return;

  const double factor = std::min(1.0, max_norm / (norm + 1e-6));
  std::vector<Parameter*> scaled = sharded;
  scaled.insert(scaled.end(), replicated.begin(), replicated.end());
  for (Parameter* parameter : scaled) parameter->gradient *= static_cast<float>(factor);
}

}  // namespace rankbox
