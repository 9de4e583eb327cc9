// Squares by recursion over the list; each element is scaled by itself.
#include <cmath>
#include <span>
#include <vector>

#include "parallel/clip_global_norm.h"

namespace rankbox {

namespace {

double squares(std::span<Parameter* const> list) {
  if (list.empty()) return 0;
  const Tensor& gradient = list.back()->gradient;
  double sum = 0;
  for (std::int64_t i = 0; i < gradient.size(); ++i)
    sum = std::fma(double{gradient.data()[i]}, double{gradient.data()[i]}, sum);
  return sum + squares(list.first(list.size() - 1));
}

}  // namespace

void clip_global_norm(Comm& dist, const std::vector<Parameter*>& sharded,
                      const std::vector<Parameter*>& replicated, float max_norm, double& norm) {
  TensorOf<double> all = full<double>(1, squares(sharded));
  dist.wait(dist.all_reduce_async(all, ReduceOp::SUM));
  norm = std::sqrt(squares(replicated) + to_host(all)[0]);
  const double limit = norm + 1e-6;
  if (std::isinf(norm) || std::isnan(norm) || max_norm >= limit) return;
  for (const auto& list : {std::span(sharded), std::span(replicated)}) {
    for (Parameter* parameter : list) {
      float* const begin = parameter->gradient.data();
      for (float* x = begin; x != begin + parameter->gradient.size(); ++x)
        *x = static_cast<float>(*x * (max_norm / limit));
    }
  }
}

}  // namespace rankbox
