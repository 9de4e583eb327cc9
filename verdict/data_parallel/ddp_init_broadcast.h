// Judging ddp_init_broadcast: all ranks begin with rank 0's parameters and statistics.
#pragma once

#include "training/parameter.h"
#include "verdict/subject.h"

namespace rankbox {

class DdpInitBroadcast : public Subject {
 public:
  using Function = void (*)(Comm& dist, const std::vector<Parameter*>& parameters,
                            const std::vector<NamedTensor*>& statistics);
  static constexpr const char* kParameters =
      "(Comm& dist, const std::vector<Parameter*>& parameters, "
      "const std::vector<NamedTensor*>& statistics)";

  explicit DdpInitBroadcast(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }

 private:
  Function function_;
};

}  // namespace rankbox
