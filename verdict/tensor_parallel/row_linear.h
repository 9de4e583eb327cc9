// Judging row_linear: a whole y, columns of dx, and the gradients.
#pragma once

#include "parallel/row_linear.h"
#include "verdict/tensor_parallel/exchanges.h"

namespace rankbox {

class RowLinear : public SubjectOfExchanges {
 public:
  using Function = void (*)(Comm& dist, Linear& shard, Parameter& bias, Direction direction,
                            Tensor& tensor, Saved& saved);
  static constexpr const char* kParameters =
      "(Comm& dist, Linear& shard, Parameter& bias, Direction direction, Tensor& tensor, Saved& "
      "saved)";

  explicit RowLinear(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  std::vector<NativeCall> exchanges(const Case& example) const override;

 private:
  Function function_;
};

}  // namespace rankbox
