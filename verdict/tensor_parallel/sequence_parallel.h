// Judging sequence_parallel: a rank's rows of y and of dx, and gradients of all rows.
#pragma once

#include "parallel/sequence_parallel.h"
#include "verdict/tensor_parallel/exchanges.h"

namespace rankbox {

class SequenceParallel : public SubjectOfExchanges {
 public:
  using Function = void (*)(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                            Saved& saved);
  static constexpr const char* kParameters =
      "(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor, Saved& saved)";

  explicit SequenceParallel(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  std::vector<NativeCall> exchanges(const Case& example) const override;

 private:
  Function function_;
};

}  // namespace rankbox
