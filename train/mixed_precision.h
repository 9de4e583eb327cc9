// --precision mixed: weights and gradients in 16 bits, masters and the optimizer's state in 32.
//
//   a step   weights = masters, rounded to 16 bits; forward, backward with the loss times a scale;
//            gradients rounded to 16 bits; widened, divided by the scale, averaged over the ranks; if one
//            of them is not finite, all ranks leave the step out and halve the scale; else the masters
//            learn
//
// It is chapter 7 put together: loss_scaling and dynamic_loss_scaling do it. What is rounded here is what
// 16 bits would hold; products are computed in 32, from rounded factors, as tensor cores do. Activations stay
// in 32 bits. So this shows what mixed precision does to learning; it saves no time on a CPU.
#pragma once

#include <functional>
#include <vector>

#include "comm/comm.h"
#include "parallel/dynamic_loss_scaling.h"
#include "training/cross_entropy.h"
#include "training/parameter.h"

namespace rankbox::train {

class MixedPrecision {
 public:
  explicit MixedPrecision(const LossScale& start = {});

  /// @param find_gradients(factor) goes forward and back, with the loss times that factor
  /// @param average takes the mean of all parameters' gradients over the ranks; empty: loss_scaling
  /// does so as it unscales them
  /// Parameters then have their masters' values, and the mean of all ranks' gradients in 32 bits.
  /// Sets `skip` to whether those must not be used, the same on all ranks. Collective.
  Loss find_gradients(Comm& dist, const std::vector<Parameter*>& parameters,
                      const std::function<Loss(float factor)>& find_gradients,
                      const std::function<void()>& average, bool& skip);

  /// What a checkpoint must hold: the scale, and for how long it has been good.
  NamedTensor& state() { return state_; }
  float scale() const { return state_.value.data()[0]; }

 private:
  NamedTensor state_;
};

}  // namespace rankbox::train
