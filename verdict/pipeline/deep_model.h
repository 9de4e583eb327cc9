// The model that the chapter's exercises are judged with: as many layers as stages need, so small that
// hundreds of runs take a second, and such that gradients reach the first layer undiminished.
#pragma once

#include "parallel/stage.h"
#include "training/data/dataset.h"

namespace rankbox {

/// Two layers a stage: fc1 gelu1 | fc2 gelu2 | … | fcN. Widths differ from stage to stage, so that a tensor
/// of another stage does not fit.
Model deep_model(int stages);
StageCut deep_cut(int stage, int stages);

/// Of so many samples; another one in every step, and for every replica.
Batch deep_batch(std::int64_t samples, int step, int replica = 0);

/// Of virtual time that every pass takes on every stage: backward twice as long as forward.
inline constexpr double kForwardSeconds = 10e-6;
inline constexpr double kBackwardSeconds = 20e-6;

}  // namespace rankbox
