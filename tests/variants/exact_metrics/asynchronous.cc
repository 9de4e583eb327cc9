// Started and waited for at once; quotients by a helper.
#include <vector>

#include "parallel/exact_metrics.h"

namespace rankbox {

namespace {

double quotient(double sum, double count) { return count > 0 ? sum / count : 0; }

}  // namespace

void exact_metrics(Comm& dist, const Loss& mine, Metrics& all) {
  TensorOf<double> totals =
      from_host({static_cast<double>(mine.counted), mine.sum, static_cast<double>(mine.correct)});
  const Request request = dist.all_reduce_async(totals);
  all = Metrics();
  dist.wait(request);
  const std::vector<double> of_all = to_host(totals);
  all.samples = static_cast<std::int64_t>(of_all[0]);
  all.loss = quotient(of_all[1], of_all[0]);
  all.accuracy = quotient(of_all[2], of_all[0]);
}

}  // namespace rankbox
