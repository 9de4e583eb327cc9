// Judging loss_scaling: gradients that 16 bits hold only when scaled, and not when added up.
#pragma once

#include <vector>

#include "training/parameter.h"
#include "verdict/subject.h"

namespace rankbox {

class LossScaling : public Subject {
 public:
  using Function = void (*)(Comm& dist, const std::vector<TensorOf<Float16>>& scaled,
                            float loss_scale, const std::vector<Parameter*>& parameters);
  static constexpr const char* kParameters =
      "(Comm& dist, const std::vector<TensorOf<Float16>>& scaled, float loss_scale, const "
      "std::vector<Parameter*>& parameters)";

  explicit LossScaling(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }

 private:
  Function function_;
};

}  // namespace rankbox
