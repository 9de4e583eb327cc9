// std::transform_reduce on the host, gradient by gradient; the sum is started and waited for.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "parallel/clip_global_norm.h"

namespace rankbox {

namespace {

double squared_norm(const Parameter& parameter) {
  const std::vector<float> host = to_host(parameter.gradient);
  return std::transform_reduce(host.begin(), host.end(), 0.0, std::plus<>(),
                               [](double x) { return x * x; });
}

double squared_norm(const std::vector<Parameter*>& all) {
  double sum = 0;
  for (auto next = all.rbegin(); next != all.rend(); ++next) sum += squared_norm(**next);
  return sum;
}

}  // namespace

void clip_global_norm(Comm& dist, const std::vector<Parameter*>& sharded,
                      const std::vector<Parameter*>& replicated, float max_norm, double& norm) {
  auto sum = from_host({squared_norm(sharded)});
  const Request request = dist.all_reduce_async(sum);
  const double own = squared_norm(replicated);
  dist.wait(request);
  norm = std::sqrt(to_host(sum)[0] + own);
  if (!std::isfinite(norm)) return;
  const double factor = std::min(1.0, max_norm / (norm + 1e-6));
  if (factor == 1) return;
  const auto scale = [&](Parameter* each) { each->gradient *= static_cast<float>(factor); };
  for (Parameter* each : sharded) scale(each);
  for (Parameter* each : replicated) scale(each);
}

}  // namespace rankbox
