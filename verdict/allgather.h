// Judging all-gathers: every rank's tensor on every rank, in rank order.
#pragma once

#include "verdict/subject.h"

namespace rankbox {

class AllGather : public Subject {
 public:
  using Function = void (*)(Comm& dist, const Tensor& tensor, Tensor& gathered);
  using Form = CostForm;
  static constexpr const char* kParameters = "(Comm& dist, const Tensor& tensor, Tensor& gathered)";

  AllGather(Function function, Form form) : function_(function), form_(form) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;

 private:
  Function function_;
  Form form_;
};

}  // namespace rankbox
