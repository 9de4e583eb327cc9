#include "parallel/exact_metrics.h"

#include <vector>

namespace rankbox {

void exact_metrics(Comm& dist, const Loss& mine, Metrics& all) {
  auto sums = from_host(std::vector<double>{mine.sum, static_cast<double>(mine.correct),
                                            static_cast<double>(mine.counted)});
  dist.all_reduce(sums, ReduceOp::SUM);
  const std::vector<double> total = to_host(sums);

  all = {.samples = static_cast<std::int64_t>(total[2])};
  if (all.samples == 0) return;
  all.loss = total[0] / total[2];
  all.accuracy = total[1] / total[2];
}

}  // namespace rankbox
