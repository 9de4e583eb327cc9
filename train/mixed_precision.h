// --precision mixed: 16-bit weights and gradients, 32-bit masters and optimizer state.
//
//   a step   weights = masters, rounded to 16 bits; forward, backward with the loss times a scale;
//            gradients rounded to 16 bits; widened, divided by the scale, averaged over the ranks;
//            if one of them is not finite, all ranks skip the step and halve the scale; else the
//            masters are updated
//
// It combines chapter 7: loss_scaling and dynamic_loss_scaling do the work. Values are rounded to
// 16 bits; products are computed in 32, from rounded factors, as on tensor cores. Activations stay
// in 32 bits. So this shows the effect of mixed precision on learning; it saves no time on a CPU.
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

  /// @param find_gradients(factor) runs forward and backward, with the loss times that factor
  /// @param average averages all parameters' gradients over the ranks; empty: loss_scaling averages
  /// as it unscales
  ///
  /// Afterwards parameters have their masters' values, and the mean of all ranks' gradients in 32
  /// bits. Sets `skip` to whether these must not be used, the same on all ranks. Collective.
  Loss find_gradients(Comm& dist, const std::vector<Parameter*>& parameters,
                      const std::function<Loss(float factor)>& find_gradients,
                      const std::function<void()>& average, bool& skip);

  /// Returns the checkpoint state: the scale, and the number of good steps.
  NamedTensor& state() { return state_; }
  float scale() const { return state_.value.data()[0]; }

 private:
  NamedTensor state_;
};

}  // namespace rankbox::train
