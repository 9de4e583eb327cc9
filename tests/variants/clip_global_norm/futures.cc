// A thread adds the squares of each gradient.
#include <cmath>
#include <future>
#include <vector>

#include "parallel/clip_global_norm.h"
namespace rankbox {
static double squares(const std::vector<Parameter*>& list) {
  std::vector<std::future<double>> parts;
  for (const Parameter* p : list) {
    if (p->gradient.empty()) continue;
    parts.push_back(
        std::async(std::launch::async, [g = p->gradient.data(), n = p->gradient.size()] {
          double sum = 0;
          for (std::int64_t i = 0; i < n; ++i) sum += double(g[i]) * g[i];
          return sum;
        }));
  }
  double all = 0;
  for (auto& part : parts) all += part.get();
  return all;
}
void clip_global_norm(Comm& dist, const std::vector<Parameter*>& sharded,
                      const std::vector<Parameter*>& replicated, float max_norm, double& norm) {
  TensorOf<double> t = full<double>(1, squares(sharded));
  dist.all_reduce(t, ReduceOp::SUM);
  norm = std::sqrt(to_host(t)[0] + squares(replicated));
  const double f = max_norm / (norm + 1e-6);
  if (!std::isfinite(norm) || f >= 1) return;
  for (auto* p : sharded) p->gradient *= static_cast<float>(f);
  for (auto* p : replicated) p->gradient *= static_cast<float>(f);
}
}  // namespace rankbox
