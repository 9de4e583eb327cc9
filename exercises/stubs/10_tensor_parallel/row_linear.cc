#include "parallel/row_linear.h"

namespace rankbox {

void row_linear(Comm& dist, Linear& shard, Parameter& bias, Direction direction, Tensor& tensor,
                Saved& saved) {
  // TODO: shard.forward makes a summand of y. What happens between it and the bias? Backward: whose is
  // the gradient of the bias (gradient_of(bias)), and who has to be told?
  throw NotImplemented("row_linear");
}

}  // namespace rankbox
