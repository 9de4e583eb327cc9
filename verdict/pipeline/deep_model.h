// The model that pipelines are judged with.
//
// It has as many layers as the stages need, is so small that hundreds of runs take a second, and
// its gradients reach the first layer undiminished.
#pragma once

#include "parallel/stage.h"
#include "training/data/dataset.h"

namespace rankbox {

/// Two layers a stage: fc1 gelu1 | fc2 gelu2 | … | fcN. Neighbouring stages have different widths,
/// so that a tensor of another stage does not fit.
Model deep_model(int stages);
StageCut deep_cut(int stage, int stages);

/// A batch that differs by step and replica.
Batch deep_batch(std::int64_t samples, int step, int replica = 0);

/// The virtual time of every pass on every stage: backward takes twice as long as forward.
inline constexpr double kForwardSeconds = 10e-6;
inline constexpr double kBackwardSeconds = 20e-6;

}  // namespace rankbox
