// The exact metrics of a dataset, for any number of ranks.
//
// Every sample counts once. Each rank evaluates its share, whose padding is labelled so that it is
// not counted; sums and counts are added over ranks. Collective. Returns the same on all ranks.
#pragma once

#include "parallel/metrics.h"
#include "train/strategies/strategy.h"

namespace rankbox::train {

Metrics evaluate(Comm& dist, Trainer& trainer, const Dataset& dataset);

}  // namespace rankbox::train
