// Softmax in floats, by hand, and a sum that is waited for later.
#include <algorithm>
#include <cmath>
#include <vector>

#include "parallel/load_balance_loss.h"

namespace rankbox {

void load_balance_loss(Comm& dist, const Tensor& scores, int k, double& loss) {
  const auto experts = static_cast<std::size_t>(scores.shape().extents()[1]);
  const std::vector<float> s = to_host(scores);
  std::vector<double> sums(2 * experts + 1, 0);
  for (std::size_t begin = 0; begin < s.size(); begin += experts) {
    float sum = 0;
    for (std::size_t e = 0; e < experts; ++e) sum += std::exp(s[begin + e]);
    for (std::size_t e = 0; e < experts; ++e) {
      sums[e] += std::exp(s[begin + e]) / sum;
      std::size_t better = 0;
      for (std::size_t other = 0; other < experts; ++other) {
        const float theirs = s[begin + other], mine = s[begin + e];
        better += theirs > mine || (theirs == mine && other < e) ? 1 : 0;
      }
      sums[experts + e] += better < static_cast<std::size_t>(k) ? 1 : 0;
    }
    sums[2 * experts] += 1;
  }
  TensorOf<double> total = from_host(sums);
  const Request request = dist.all_reduce_async(total, ReduceOp::SUM);
  dist.wait(request);
  sums = to_host(total);
  const double tokens = std::max(1.0, sums[2 * experts]);
  loss = 0;
  for (std::size_t e = 0; e < experts; ++e)
    loss += sums[e] / tokens * sums[experts + e] / tokens / k * static_cast<double>(experts);
}

}  // namespace rankbox
