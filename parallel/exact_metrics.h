// exact_metrics: one loss and one accuracy for the whole dataset, however it was sharded.
//
// Every rank has evaluated its share, batch by batch, and added up three numbers: the sum of the
// losses, the correct samples, and the counted samples (training/cross_entropy.h). Sums and counts
// can be added over ranks; means cannot: the mean of the means is wrong as soon as shares differ in
// size. And they do differ, because the padding that made them equal must not be counted twice:
// samples labelled kIgnoredLabel are already left out of all three numbers.
//
//   p = 2         sum of losses   correct   counted
//   rank 0        6.0             2         3
//   rank 1        1.0             1         1          (2, one of them padding)
//   together      7.0             3         4          loss 1.75 = 7/4, and not (6/3 + 1/1)/2 = 1.5
//
// Build on dist.all_reduce: one call, of the three numbers as doubles (TensorOf<double>): floats
// count only up to 16,777,216. If no rank counted any sample, loss and accuracy are 0.
//
// Cost: one native all-reduce of 24 bytes.
// Blocks: until all ranks have called it.
// Difficulty 1/5. Importance 4/5.
#pragma once

#include "comm/comm.h"
#include "parallel/metrics.h"
#include "training/cross_entropy.h"

namespace rankbox {

/// Every rank gets the metrics of all ranks' samples together.
///
/// @param mine the loss of this rank's share; its gradient is ignored
/// REQUIRES: every rank calls it.
void exact_metrics(Comm& dist, const Loss& mine, Metrics& all);

}  // namespace rankbox
