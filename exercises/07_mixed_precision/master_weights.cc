#include "parallel/master_weights.h"

namespace rankbox {

void master_weights(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate,
                    Tensor& master, TensorOf<Float16>& weights) {
  // TODO: which of the three tensors does the step change, and which is made from it? A Float16
  // converts to float implicitly; the other way is Float16(value).
  throw NotImplemented("master_weights");
}

}  // namespace rankbox
