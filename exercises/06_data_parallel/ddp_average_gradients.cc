#include "parallel/ddp_average_gradients.h"

namespace rankbox {

void ddp_average_gradients(Comm& dist, const std::vector<Parameter*>& parameters) {
  // TODO: the mean of every gradient over all ranks. Sum or mean: what happens to the learning
  // rate? A gradient may be empty here and not on another rank: gradient_of(parameter) makes zeros
  // of it.
  throw NotImplemented("ddp_average_gradients");
}

}  // namespace rankbox
