#include "parallel/pipeline_gpipe.h"

namespace rankbox {

void pipeline_gpipe(Comm& dist, Stage& stage) {
  // TODO: all micro-batches forward, then all of them back. Who is the first to have nothing to do, and for
  // how long?
  throw NotImplemented("pipeline_gpipe");
}

}  // namespace rankbox
