// Judging barriers: nobody leaves before everybody has come.
//
// One rank, `root`, comes an hour of virtual time after the others. Whoever leaves with less than
// an hour on the clock did not wait for it. This needs no real sleeping and misses nothing: the
// clocks follow the messages, not the threads.
#pragma once

#include "verdict/subject.h"

namespace rankbox {

class Barrier : public Subject {
 public:
  using Function = void (*)(Comm& dist);
  using Form = CostForm;
  static constexpr const char* kParameters = "(Comm& dist)";

  Barrier(Function function, Form form) : function_(function), form_(form) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool is_a_barrier() const override { return true; }
  std::optional<Difference> after(const RunReport& report, const Case& example) const override;

 private:
  Function function_;
  Form form_;
};

}  // namespace rankbox
