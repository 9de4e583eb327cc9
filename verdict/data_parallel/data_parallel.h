// Judging data_parallel: a master that lends its batch and its model to others in every step.
#pragma once

#include "training/data/dataset.h"
#include "training/sequential.h"
#include "verdict/subject.h"

namespace rankbox {

class DataParallel : public Subject {
 public:
  using Function = void (*)(Comm& dist, Sequential& model, const Batch& batch);
  static constexpr const char* kParameters = "(Comm& dist, Sequential& model, const Batch& batch)";

  explicit DataParallel(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }

 private:
  Function function_;
};

}  // namespace rankbox
