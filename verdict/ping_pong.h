// Judging ping_pong: there and back between two ranks.
//
// Who passes is shown round trips of three sizes, and the α and β that they give.
#pragma once

#include "verdict/subject.h"

namespace rankbox {

class PingPong : public Subject {
 public:
  using Function = void (*)(Comm& dist, Tensor& tensor, int partner);
  using Form = CostForm;
  static constexpr const char* kParameters = "(Comm& dist, Tensor& tensor, int partner)";

  PingPong(Function function, Form form) : function_(function), form_(form) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  std::string remark(const std::function<double(const Case&)>& seconds_of) const override;

 private:
  Function function_;
  Form form_;
};

}  // namespace rankbox
