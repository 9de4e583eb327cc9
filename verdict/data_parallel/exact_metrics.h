// Judging exact_metrics: loss and accuracy of all ranks' samples together.
#pragma once

#include "parallel/metrics.h"
#include "training/cross_entropy.h"
#include "verdict/subject.h"

namespace rankbox {

class ExactMetrics : public Subject {
 public:
  using Function = void (*)(Comm& dist, const Loss& mine, Metrics& all);
  static constexpr const char* kParameters = "(Comm& dist, const Loss& mine, Metrics& all)";

  explicit ExactMetrics(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }

 private:
  Function function_;
};

}  // namespace rankbox
