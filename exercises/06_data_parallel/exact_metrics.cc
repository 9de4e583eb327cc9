#include "parallel/exact_metrics.h"

namespace rankbox {

void exact_metrics(Comm& dist, const Loss& mine, Metrics& all) {
  // TODO: mine has a sum of losses, a number of correct samples, and how many were counted. Which
  // of these can be added over ranks, and which cannot?
  throw NotImplemented("exact_metrics");
}

}  // namespace rankbox
