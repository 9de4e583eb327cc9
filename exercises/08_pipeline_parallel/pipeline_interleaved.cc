#include "parallel/pipeline_interleaved.h"

namespace rankbox {

void pipeline_interleaved(Comm& dist, std::vector<Stage>& chunks) {
  // TODO: write down, for two ranks with two chunks each and two micro-batches, what rank 0 does
  // and in which order. Which messages does it get from rank 1, and in which order?
  throw NotImplemented("pipeline_interleaved");
}

}  // namespace rankbox
