// Judging ddp_no_sync: the gradient of the mean over all micro-batches of all ranks, sent once.
#pragma once

#include "training/data/dataset.h"
#include "training/sequential.h"
#include "verdict/subject.h"

namespace rankbox {

class DdpNoSync : public Subject {
 public:
  using Function = void (*)(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches);
  static constexpr const char* kParameters =
      "(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches)";

  explicit DdpNoSync(Function function) : function_(function) {}

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
