// Judging sync_batch_norm: batch norm over the batch of all ranks, whose parts differ in size.
#pragma once

#include "verdict/subject.h"

namespace rankbox {

class SyncBatchNorm : public Subject {
 public:
  using Function = void (*)(Comm& dist, const Tensor& x, const Tensor& dy, float epsilon, Tensor& y,
                            Tensor& dx);
  static constexpr const char* kParameters =
      "(Comm& dist, const Tensor& x, const Tensor& dy, float epsilon, Tensor& y, Tensor& dx)";

  explicit SyncBatchNorm(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }

 private:
  Function function_;
};

}  // namespace rankbox
