// Judging parallel_mlp: both directions, and 20 steps of training.
#pragma once

#include "parallel/parallel_mlp.h"
#include "verdict/tensor_parallel/exchanges.h"

namespace rankbox {

class ParallelMlpBlock : public SubjectOfExchanges {
 public:
  using Function = void (*)(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                            Saved& saved);
  static constexpr const char* kParameters =
      "(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor, Saved& saved)";

  explicit ParallelMlpBlock(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  std::vector<NativeCall> exchanges(const Case& example) const override;

 private:
  Function function_;
};

}  // namespace rankbox
