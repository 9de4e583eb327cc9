// dynamic_loss_scaling: find the scale while training, and skip steps together.
//
// Which scale is right changes while a model learns. So it is tried out: as long as all gradients are
// finite it may be too small, and after growth_interval such steps it is doubled. When some gradient
// is infinite, or not a number, it was too large: it is halved, and the step is not taken, since its
// gradients mean nothing.
//
// A gradient may be infinite on one rank and finite on the others (before they are averaged, or where
// ranks hold other parameters). If that rank skips alone, its model differs from the others' from then
// on, and nobody notices. All ranks must decide the same: whether *any* has seen something that is not
// finite. That is one number, and its maximum.
//
//   p = 3      own gradients      all skip     scale            good steps
//   step 7     finite, inf, finite   yes       65536 → 32768    0
//   step 8     finite everywhere     no        32768            1
//
// (A NaN is no good as the number: what is the maximum of 0 and NaN? Send 0 or 1.)
//
// Build on dist.all_reduce of one float.
//
// Cost: one native all-reduce of 4 bytes.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 4/5.
// Paper: Micikevicius et al., Mixed precision training, ICLR 2018; torch.cuda.amp.GradScaler.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "training/parameter.h"

namespace rankbox {

struct LossScale {
  float scale = 65536;
  int good_steps = 0;  // since it was last changed
  int growth_interval = 2000;
};

/// Sets `skip` to whether the step must be left out, and moves the scale on: both the same on all
/// ranks. Gradients are as they were; an empty one is finite.
///
/// REQUIRES: every rank calls it with the same scale.
void dynamic_loss_scaling(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale,
                          bool& skip);

}  // namespace rankbox
