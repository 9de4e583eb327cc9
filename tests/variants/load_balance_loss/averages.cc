// Averages over ranks instead of sums: the world size cancels out. Numbers lie expert by expert.
#include <vector>

#include "parallel/load_balance_loss.h"

namespace rankbox {

void load_balance_loss(Comm& dist, const Tensor& scores, int k, double& loss) {
  const std::int64_t tokens = scores.shape().extents()[0], experts = scores.shape().extents()[1];
  std::vector<double> numbers = {static_cast<double>(tokens)};
  const std::vector<double> p = probabilities_of(scores);
  const std::vector<int> chosen = choose_experts(scores, k).experts;
  for (std::int64_t e = 0; e < experts; ++e) {
    double count = 0, sum = 0;
    for (const int choice : chosen) count += choice == e ? 1 : 0;
    for (std::int64_t t = 0; t < tokens; ++t) sum += p[static_cast<std::size_t>(t * experts + e)];
    numbers.push_back(count);
    numbers.push_back(sum);
  }
  TensorOf<double> mean = from_host(numbers);
  dist.all_reduce(mean, ReduceOp::AVG);
  numbers = to_host(mean);
  double products = 0;
  for (std::size_t i = 1; i < numbers.size(); i += 2) products += numbers[i] * numbers[i + 1];
  const double all = numbers[0];
  loss = all > 0 ? static_cast<double>(experts) * products / (k * all * all) : 0;
}

}  // namespace rankbox
