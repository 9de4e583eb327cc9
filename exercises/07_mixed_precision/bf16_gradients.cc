#include "parallel/bf16_gradients.h"

namespace rankbox {

void bf16_gradients(Comm& dist, const TensorOf<BFloat16>& gradient, int micro_batch,
                    int micro_batches, Tensor& main_gradient) {
  // TODO: add in 32 bits; a BFloat16 converts to float implicitly. What is different with the first
  // micro-batch, and what with the last?
  throw NotImplemented("bf16_gradients");
}

}  // namespace rankbox
