// Judging all-to-alls: chunk d of rank s becomes chunk s of rank d.
#pragma once

#include "verdict/subject.h"

namespace rankbox {

class AllToAll : public Subject {
 public:
  using Function = void (*)(Comm& dist, const Tensor& input, Tensor& output);
  using Form = CostForm;
  static constexpr const char* kParameters = "(Comm& dist, const Tensor& input, Tensor& output)";

  AllToAll(Function function, Form form) : function_(function), form_(form) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;

 private:
  Function function_;
  Form form_;
};

}  // namespace rankbox
