#include "parallel/pipeline_gpipe.h"

namespace rankbox {

void pipeline_gpipe(Comm& dist, Stage& stage) {
  // TODO: all micro-batches forward, then all of them back. Which rank is idle first, and for how
  // long?
  throw NotImplemented("pipeline_gpipe");
}

}  // namespace rankbox
