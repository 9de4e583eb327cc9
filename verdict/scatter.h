// Judging scatters: each rank its piece of src's tensor.
#pragma once

#include "verdict/subject.h"

namespace rankbox {

class Scatter : public Subject {
 public:
  using Function = void (*)(Comm& dist, const Tensor& whole, Tensor& piece, int src);
  using Form = CostForm;
  static constexpr const char* kParameters =
      "(Comm& dist, const Tensor& whole, Tensor& piece, int src)";

  Scatter(Function function, Form form) : function_(function), form_(form) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;

 private:
  Function function_;
  Form form_;
};

}  // namespace rankbox
