#include "parallel/master_weights.h"

#include "tests/support/exercise_test.h"
#include "verdict/mixed_precision/master_weights.h"

namespace rankbox {

TEST_CASE("master_weights learns in steps that 16 bits do not hold") {
  const MasterWeights subject(master_weights);
  expect_pass(judge("master_weights", subject), "values");
}

}  // namespace rankbox
