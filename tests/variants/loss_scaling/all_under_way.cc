// All all-reduces are started, then waited for.
#include "parallel/loss_scaling.h"

namespace rankbox {

void loss_scaling(Comm& dist, const std::vector<TensorOf<Float16>>& scaled, float loss_scale,
                  const std::vector<Parameter*>& parameters) {
  std::vector<Request> requests;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Tensor& gradient = gradient_of(*parameters[k]);
    for (std::int64_t i = 0; i < gradient.size(); ++i) {
      const float wide = scaled[k].data()[i];
      gradient.data()[i] += wide * (1 / loss_scale);
    }
    requests.push_back(dist.all_reduce_async(gradient, ReduceOp::AVG));
  }
  for (Request& request : requests) dist.wait(request);
}

}  // namespace rankbox
