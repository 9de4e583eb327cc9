// Judging reductions to one rank.
#pragma once

#include "verdict/subject.h"

namespace rankbox {

class Reduce : public Subject {
 public:
  using Function = void (*)(Comm& dist, Tensor& tensor, int dst, ReduceOp op);
  using Form = CostForm;
  static constexpr const char* kParameters = "(Comm& dist, Tensor& tensor, int dst, ReduceOp op)";

  Reduce(Function function, Form form) : function_(function), form_(form) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;

 private:
  Function function_;
  Form form_;
};

}  // namespace rankbox
