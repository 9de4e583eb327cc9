// The model for judging pipelines.
//
// It has as many layers as the stages need. It is so small that hundreds of runs take a second. Its
// gradients reach the first layer undiminished.
#pragma once

#include "parallel/stage.h"
#include "training/data/dataset.h"

namespace rankbox {

inline constexpr std::int64_t kDeepInputs = 6;
inline constexpr std::int64_t kDeepClasses = 3;

/// Returns two layers per stage: fc1 gelu1 | fc2 gelu2 | … | fcN. Neighbouring stages differ in
/// width, so a tensor of another stage does not fit.
Model deep_model(int stages);
StageCut deep_cut(int stage, int stages);

/// Returns a batch that differs by step and replica.
Batch deep_batch(std::int64_t samples, int step, int replica = 0);

/// The virtual time of a pass on any stage. Backward takes twice as long as forward, and each of its
/// halves as long.
inline constexpr double kForwardSeconds = 10e-6;
inline constexpr double kBackwardSeconds = 20e-6;
constexpr double seconds_of(Turn turn) {
  return turn == Turn::kBackward ? kBackwardSeconds : kForwardSeconds;
}

}  // namespace rankbox
