// Judging zero1: the values of one rank alone, in a shard's memory.
#pragma once

#include "parallel/zero1.h"
#include "verdict/subject.h"

namespace rankbox {

class Zero1 : public Subject {
 public:
  using Function = void (*)(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
                            Optimizer& optimizer);
  static constexpr const char* kParameters =
      "(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard, Optimizer& optimizer)";

  explicit Zero1(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }
  bool limits_memory() const override { return true; }
  std::int64_t count_to_show() const override { return 64; }

 private:
  Function function_;
};

}  // namespace rankbox
