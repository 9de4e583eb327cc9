#include "parallel/vocab_parallel_cross_entropy.h"

namespace rankbox {

void vocab_parallel_cross_entropy(Comm& dist, const Tensor& logits, std::int64_t classes,
                                  std::span<const std::int32_t> labels, Loss& loss) {
  // TODO: 1. the largest logit of each row: over which ranks? 2. two sums per row; only one rank
  // contributes to one of them: to which? 3. what follows for this rank's columns of the gradient?
  throw NotImplemented("vocab_parallel_cross_entropy");
}

}  // namespace rankbox
