// A call widens, sends, and calls itself for the rest; then it divides.
#include <span>
#include <vector>

#include "parallel/loss_scaling.h"

namespace rankbox {

namespace {

void unscale(Comm& dist, std::span<const TensorOf<Float16>> scaled, float divisor,
             std::span<Parameter* const> parameters) {
  if (parameters.empty()) return;
  Tensor& gradient = gradient_of(*parameters.front());
  const Float16* from = scaled.front().data();
  for (std::int64_t i = 0; i < gradient.size(); ++i) gradient.data()[i] = float{from[i]};
  dist.all_reduce(gradient, ReduceOp::SUM);
  unscale(dist, scaled.subspan(1), divisor, parameters.subspan(1));
  for (std::int64_t i = 0; i < gradient.size(); ++i) gradient.data()[i] /= divisor;
}

}  // namespace

void loss_scaling(Comm& dist, const std::vector<TensorOf<Float16>>& scaled, float loss_scale,
                  const std::vector<Parameter*>& parameters) {
  unscale(dist, scaled, loss_scale * static_cast<float>(dist.world_size()), parameters);
}

}  // namespace rankbox
