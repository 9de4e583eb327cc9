// Judging ddp_uneven_inputs: ranks with different numbers of batches learn what one rank learns from all
// of them.
#pragma once

#include "training/data/dataset.h"
#include "training/optimizer.h"
#include "training/sequential.h"
#include "verdict/subject.h"

namespace rankbox {

class DdpUnevenInputs : public Subject {
 public:
  using Function = void (*)(Comm& dist, Sequential& model, Optimizer& optimizer,
                            const std::vector<Batch>& batches);
  static constexpr const char* kParameters =
      "(Comm& dist, Sequential& model, Optimizer& optimizer, const std::vector<Batch>& batches)";

  explicit DdpUnevenInputs(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }
  std::optional<Difference> compare_schedule(const RunReport& report,
                                             const Case& example) const override;

 private:
  Function function_;
};

}  // namespace rankbox
