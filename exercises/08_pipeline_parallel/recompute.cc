#include "parallel/recompute.h"

namespace rankbox {

void recompute(Sequential& model, const Batch& batch, int segments, Saved& saved, Loss& loss) {
  // TODO: what must you keep of a segment, so that its layers can run forward once more later?
  // What does a layer's forward change besides its result? What must the second one not change?
  // Which segment need not run forward twice?
  throw NotImplemented("recompute");
}

}  // namespace rankbox
