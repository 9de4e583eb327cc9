#include "parallel/pipeline_zero_bubble.h"

namespace rankbox {

void pipeline_zero_bubble(Comm& dist, Stage& stage) {
  // TODO: begin with your pipeline_1f1b. Which half of backward does the previous rank wait for?
  // When may this rank add the gradients of its weights, and how many micro-batches later does it?
  // What could it do while the derivative that it sends is not received yet?
  throw NotImplemented("pipeline_zero_bubble");
}

}  // namespace rankbox
