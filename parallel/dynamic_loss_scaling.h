// dynamic_loss_scaling: find the scale while training, and skip steps together.
//
// The right scale changes while a model learns, so it is found by trial. As long as all gradients
// are finite it may be too small: after growth_interval such steps it is doubled. When a gradient
// is infinite or NaN, it was too large: it is halved, and the step is skipped, since its gradients
// mean nothing.
//
// A gradient may be infinite on one rank and finite on the others (before they are averaged, or
// where ranks hold other parameters). If that rank skips alone, its model differs from the others'
// from then on, and nothing shows it. All ranks must decide alike: has *any* rank seen a value that
// is not finite? That is the maximum of one number per rank.
//
//   p = 3      own gradients      all skip     scale            good steps
//   step 7     finite, inf, finite   yes       65536 → 32768    0
//   step 8     finite everywhere     no        32768            1
//
// (Do not send a NaN as that number: what is the maximum of 0 and NaN? Send 0 or 1.)
//
// Build on dist.all_reduce of one float.
//
// Cost: one native all-reduce of 4 bytes.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 4/5.
// Paper: Micikevicius et al., Mixed precision training, ICLR 2018; torch.amp.GradScaler.
// That one, like this, has no floor, cap or hysteresis; Megatron's scaler has a floor and
// hysteresis.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "training/parameter.h"

namespace rankbox {

struct LossScale {
  float scale = 65536;
  int good_steps = 0;  // since the last change
  int growth_interval = 2000;
};

/// Sets `skip` to whether the step must be skipped, and updates the scale; both are the same on all
/// ranks. Gradients are unchanged; an empty one is finite.
///
/// REQUIRES: every rank calls it with the same scale.
void dynamic_loss_scaling(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale,
                          bool& skip);

}  // namespace rankbox
