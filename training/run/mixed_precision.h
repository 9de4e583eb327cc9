// --precision mixed and bf16: 16-bit weights and gradients, 32-bit masters and optimizer state.
//
//   a step   weights = masters, rounded to 16 bits; forward, backward;
//            gradients rounded to 16 bits, widened, averaged over the ranks;
//            the optimizer updates the masters
//
// bf16 is that, with BFloat16. Float16 of `mixed` has a smaller range, so the loss is multiplied by
// a scale and the gradients divided by it; if one of them is not finite, all ranks skip the step
// and halve the scale. That is chapter 7: loss_scaling and dynamic_loss_scaling do the work.
//
// Products are computed from 16-bit factors with 32-bit sums. On a GPU both factors are rounded,
// activations too, and tensor cores multiply them (compute/autocast.h). On the host activations
// stay in 32 bits, so a run shows the effect of rounded weights on learning, and saves no time.
//
// Where one function does forward, backward and communication, layer by layer (dp, the ZeRO stages,
// pipeline), the layers round (rounding_layers), and a last layer scales the loss's gradient
// (loss_scale_layer): only on the way back, so no function needs to know of it. accept() then
// judges the averaged gradients.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "comm/comm.h"
#include "parallel/dynamic_loss_scaling.h"
#include "training/cross_entropy.h"
#include "training/run/plan.h"
#include "training/sequential.h"

namespace rankbox::train {

class MixedPrecision {
 public:
  /// @param precision kMixed or kBf16
  explicit MixedPrecision(Precision precision, const LossScale& start = {});

  /// @param find_gradients(factor) runs forward and backward, with the loss times that factor
  /// @param average averages all parameters' gradients over the ranks; empty, which requires
  /// kMixed: loss_scaling averages as it unscales
  ///
  /// Afterwards parameters have their masters' values, and the mean of all ranks' gradients in 32
  /// bits. Sets `skip` to whether these must not be used, the same on all ranks. Collective.
  Loss find_gradients(Comm& dist, const std::vector<Parameter*>& parameters,
                      const std::function<Loss(float factor)>& find_gradients,
                      const std::function<void()>& average, bool& skip);

  /// The same model, whose layers compute in training with their weights rounded to 16 bits, and
  /// round their gradients.
  Model rounding_layers(const Model& recipes) const;
  /// A layer to follow the last one: it multiplies the gradient by the scale. REQUIRES: this
  /// outlives it.
  std::unique_ptr<Layer> loss_scale_layer();
  /// Divides the gradients by the scale, and updates it. Returns whether all gradients of all ranks
  /// are finite: if not, the step must be skipped. Collective.
  bool accept(Comm& dist, const std::vector<Parameter*>& parameters);

  /// Returns the checkpoint state. kMixed: the scale, and the number of good steps.
  std::vector<NamedTensor*> state();
  /// 1 without loss scaling.
  float scale() const;

 private:
  /// Returns whether the step must be skipped, and updates the scale. Collective.
  bool update_scale(Comm& dist, const std::vector<Parameter*>& parameters);

  Precision precision_;
  NamedTensor state_;
};

/// Returns nothing for fp32.
std::optional<MixedPrecision> mixed_precision_of(const Plan& plan);

}  // namespace rankbox::train
