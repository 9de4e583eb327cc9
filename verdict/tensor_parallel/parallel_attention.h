// Judging parallel_attention: both directions, with texts of different lengths.
#pragma once

#include "parallel/parallel_attention.h"
#include "verdict/tensor_parallel/exchanges.h"

namespace rankbox {

class ParallelAttentionBlock : public SubjectOfExchanges {
 public:
  using Function = void (*)(Comm& dist, ParallelAttention& shard, Direction direction,
                            Tensor& tensor, Saved& saved);
  static constexpr const char* kParameters =
      "(Comm& dist, ParallelAttention& shard, Direction direction, Tensor& tensor, Saved& saved)";

  explicit ParallelAttentionBlock(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  std::vector<NativeCall> exchanges(const Case& example) const override;

 private:
  Function function_;
};

}  // namespace rankbox
