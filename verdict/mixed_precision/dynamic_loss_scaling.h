// Judging dynamic_loss_scaling: all ranks skip a step, or none does, and all know the scale.
#pragma once

#include <vector>

#include "parallel/dynamic_loss_scaling.h"
#include "verdict/subject.h"

namespace rankbox {

class DynamicLossScaling : public Subject {
 public:
  using Function = void (*)(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale,
                            bool& skip);
  static constexpr const char* kParameters =
      "(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale, bool& skip)";

  explicit DynamicLossScaling(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }

 private:
  Function function_;
};

}  // namespace rankbox
