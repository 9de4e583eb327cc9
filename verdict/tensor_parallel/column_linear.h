// Judging column_linear: columns of y, a whole dx, and gradients of this rank's rows.
#pragma once

#include "parallel/column_linear.h"
#include "verdict/tensor_parallel/exchanges.h"

namespace rankbox {

class ColumnLinear : public SubjectOfExchanges {
 public:
  using Function = void (*)(Comm& dist, Linear& shard, Direction direction, Tensor& tensor,
                            Saved& saved);
  static constexpr const char* kParameters =
      "(Comm& dist, Linear& shard, Direction direction, Tensor& tensor, Saved& saved)";

  explicit ColumnLinear(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  std::vector<NativeCall> exchanges(const Case& example) const override;

 private:
  Function function_;
};

}  // namespace rankbox
