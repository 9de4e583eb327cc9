// The metrics of a dataset, exactly: every sample counts once, however many ranks there are.
//
// Each rank goes through its share, whose padding is labelled so that it counts nowhere; sums and
// counts are added over ranks. Collective. Returns the same on all ranks.
#pragma once

#include "parallel/metrics.h"
#include "train/strategies/strategy.h"

namespace rankbox::train {

Metrics evaluate(Comm& dist, Trainer& trainer, const Dataset& dataset);

}  // namespace rankbox::train
