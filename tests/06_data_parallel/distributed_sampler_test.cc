#include "parallel/distributed_sampler.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/distributed_sampler.h"

namespace rankbox {

TEST_CASE("distributed_sampler deals every sample once, and says what is padding") {
  const DistributedSampler subject(distributed_sampler);
  expect_pass(judge("distributed_sampler", subject), "values");
}

}  // namespace rankbox
