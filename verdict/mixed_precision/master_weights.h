// Judging master_weights: small steps add up in 32 bits, and weights are that, rounded.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "verdict/subject.h"

namespace rankbox {

class MasterWeights : public Subject {
 public:
  using Function = void (*)(const TensorOf<Float16>& gradient, float loss_scale,
                            float learning_rate, Tensor& master, TensorOf<Float16>& weights);
  static constexpr const char* kParameters =
      "(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate, Tensor& master, "
      "TensorOf<Float16>& weights)";

  explicit MasterWeights(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& /*example*/) const override { return {}; }
  bool sends_messages() const override { return false; }

 private:
  Function function_;
};

}  // namespace rankbox
