// Judging ddp_average_gradients: gradients become their means, and ranks learn as one.
#pragma once

#include "training/parameter.h"
#include "verdict/subject.h"

namespace rankbox {

class DdpAverageGradients : public Subject {
 public:
  using Function = void (*)(Comm& dist, const std::vector<Parameter*>& parameters);
  static constexpr const char* kParameters =
      "(Comm& dist, const std::vector<Parameter*>& parameters)";

  explicit DdpAverageGradients(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }

 private:
  Function function_;
};

}  // namespace rankbox
