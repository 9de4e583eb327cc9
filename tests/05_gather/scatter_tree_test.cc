#include "collectives/scatter_tree.h"

#include "collectives/cost_gather.h"
#include "tests/support/exercise_test.h"
#include "verdict/scatter.h"

namespace rankbox {

EXERCISE_TEST(Scatter, scatter_tree, "gives every rank its piece of any src's tensor",
              "⌈log2 p⌉α + (p-1)nβ", "world_size=8,count=24", /*steps=*/3, /*bytes=*/672,
              /*reduced=*/0);

}  // namespace rankbox
