#include "parallel/pipeline_1f1b.h"

namespace rankbox {

void pipeline_1f1b(Comm& dist, Stage& stage) {
  // TODO: 1. warm-up: how many micro-batches may this rank admit before the first one comes back?
  // 2. One forward, one backward. To which rank does this rank send while that rank sends to it?
  // 3. What is left to go back?
  throw NotImplemented("pipeline_1f1b");
}

}  // namespace rankbox
