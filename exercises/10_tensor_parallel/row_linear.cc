#include "parallel/row_linear.h"

namespace rankbox {

void row_linear(Comm& dist, Linear& shard, Parameter& bias, Direction direction, Tensor& tensor,
                Saved& saved) {
  // TODO: shard.forward computes a summand of y. What happens between it and the bias? Backward:
  // which ranks can compute the gradient of the bias (gradient_of(bias)), and must it be sent?
  throw NotImplemented("row_linear");
}

}  // namespace rankbox
