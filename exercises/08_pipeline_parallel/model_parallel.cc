#include "parallel/model_parallel.h"

namespace rankbox {

void model_parallel(Comm& dist, Stage& stage) {
  // TODO: for each micro-batch: where does its input come from, where does its output go, and what
  // comes back from there? The first and the last stage (is_first(), is_last()) have something to
  // leave out.
  throw NotImplemented("model_parallel");
}

}  // namespace rankbox
