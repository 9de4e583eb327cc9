// The exact metrics of a dataset, for any number of ranks.
//
// Every sample counts once. Each rank evaluates its share, whose padding is labelled so that it is
// not counted; sums and counts are added over ranks.
#pragma once

#include "parallel/metrics.h"
#include "training/run/strategies/strategy.h"

namespace rankbox::train {

struct Evaluation : Metrics {
  double f1 = 0;  // see class_counts.h
};

/// Collective. Returns the same on all ranks.
Evaluation evaluate(Comm& dist, Trainer& trainer, const Dataset& dataset);

}  // namespace rankbox::train
