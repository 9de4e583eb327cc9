#include "parallel/load_balance_loss.h"

#include <vector>

namespace rankbox {

void load_balance_loss(Comm& dist, const Tensor& scores, int k, double& loss) {
  const auto tokens = scores.shape().extents()[0];
  const auto experts = static_cast<std::size_t>(scores.shape().extents()[1]);

  // 1. This rank's choices and probabilities of each expert, and its tokens.
  std::vector<double> sums(2 * experts + 1);
  for (const int expert : choose_experts(scores, k).experts)
    sums[static_cast<std::size_t>(expert)] += 1;
  const std::vector<double> probabilities = probabilities_of(scores);
  for (std::size_t i = 0; i < probabilities.size(); ++i)
    sums[experts + i % experts] += probabilities[i];
  sums.back() = static_cast<double>(tokens);

  // 2. Those of all ranks.
  TensorOf<double> total = from_host(sums);
  dist.all_reduce(total);
  sums = to_host(total);

  // 3. Means, now that the sums are complete.
  loss = 0;
  const double all = sums.back();
  if (all == 0) return;
  for (std::size_t e = 0; e < experts; ++e) loss += sums[e] / (k * all) * (sums[experts + e] / all);
  loss *= static_cast<double>(experts);
}

}  // namespace rankbox
