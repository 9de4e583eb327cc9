#include "parallel/loss_scaling.h"

namespace rankbox {

void loss_scaling(Comm& dist, const std::vector<TensorOf<Float16>>& scaled, float loss_scale,
                  const std::vector<Parameter*>& parameters) {
  // TODO: widen, divide, average: in which order? gradient_of(*parameters[k]) is a tensor of
  // floats, of the size of scaled[k].
  throw NotImplemented("loss_scaling");
}

}  // namespace rankbox
