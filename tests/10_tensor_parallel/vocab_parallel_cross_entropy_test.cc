#include "parallel/vocab_parallel_cross_entropy.h"

#include "tests/support/exercise_test.h"
#include "verdict/tensor_parallel/vocab_parallel_cross_entropy.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(VocabParallelCrossEntropy, vocab_parallel_cross_entropy,
                       "is the loss of all classes", "two all-reduces of a few numbers a row",
                       "world_size=4,count=9",
                       /*steps=*/4, /*bytes=*/216, /*reduced=*/216);

}  // namespace rankbox
