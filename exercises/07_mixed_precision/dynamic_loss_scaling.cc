#include "parallel/dynamic_loss_scaling.h"

namespace rankbox {

void dynamic_loss_scaling(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale,
                          bool& skip) {
  // TODO: 1. is any gradient of any rank not finite (std::isfinite)? 2. what does that mean for the
  // step, and for the scale?
  throw NotImplemented("dynamic_loss_scaling");
}

}  // namespace rankbox
