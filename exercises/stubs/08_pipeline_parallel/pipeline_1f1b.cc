#include "parallel/pipeline_1f1b.h"

namespace rankbox {

void pipeline_1f1b(Comm& dist, Stage& stage) {
  // TODO: 1. warm-up: how many micro-batches may this rank let in before the first one comes back?
  // 2. One forward, one backward. Whom does this rank send to, while that one sends to it?
  // 3. What is left to go back?
  throw NotImplemented("pipeline_1f1b");
}

}  // namespace rankbox
