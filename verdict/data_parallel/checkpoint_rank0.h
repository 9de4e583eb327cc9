// Judging checkpoint_rank0: one rank writes, and all go on from what it reads.
#pragma once

#include <string>

#include "parallel/checkpoint_rank0.h"
#include "verdict/subject.h"

namespace rankbox {

class CheckpointRank0 : public Subject {
 public:
  using Function = void (*)(Comm& dist, CheckpointAction action, const std::string& path,
                            const TrainingState& state);
  static constexpr const char* kParameters =
      "(Comm& dist, CheckpointAction action, const std::string& path, const TrainingState& state)";

  explicit CheckpointRank0(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }
  bool may_call_barrier() const override { return true; }

 private:
  Function function_;
};

}  // namespace rankbox
