// A tensor of zeros that is filled in place, and the mean of the counts times the world size.
#include <cmath>

#include "parallel/exact_metrics.h"

namespace rankbox {

void exact_metrics(Comm& dist, const Loss& mine, Metrics& all) {
  TensorOf<double> sums = zeros<double>(3);
  double* const sum = sums.data();
  sum[0] = mine.sum;
  sum[1] = static_cast<double>(mine.correct);
  sum[2] = static_cast<double>(mine.counted);
  dist.all_reduce(sums, ReduceOp::AVG);
  const double counted = std::round(sum[2] * dist.world_size());
  all.samples = std::llround(counted);
  all.loss = counted > 0 ? sum[0] / sum[2] : 0;
  all.accuracy = counted > 0 ? sum[1] / sum[2] : 0;
}

}  // namespace rankbox
