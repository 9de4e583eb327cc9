// Judging zero2: the values of one rank alone, in a shard's memory.
#pragma once

#include "parallel/zero2.h"
#include "verdict/subject.h"

namespace rankbox {

class Zero2 : public Subject {
 public:
  using Function = void (*)(Comm& dist, Sequential& model, Tensor dy, Saved& saved,
                            std::vector<Shard>& shards, Optimizer& optimizer);
  static constexpr const char* kParameters =
      "(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::vector<Shard>& shards, "
      "Optimizer& optimizer)";

  explicit Zero2(Function function) : function_(function) {}

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
