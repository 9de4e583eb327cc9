#include "train/mixed_precision.h"

#include "comm/float16.h"
#include "parallel/loss_scaling.h"

namespace rankbox::train {
namespace {

/// Rounds parameters to 16-bit values for its lifetime.
class RoundedWeights {
 public:
  explicit RoundedWeights(const std::vector<Parameter*>& parameters) : parameters_(parameters) {
    for (Parameter* parameter : parameters_) {
      Tensor rounded = empty_like(parameter->value);
      for (std::int64_t i = 0; i < rounded.size(); ++i)
        rounded.data()[i] = Float16(parameter->value.data()[i]);
      masters_.push_back(std::exchange(parameter->value, std::move(rounded)));
    }
  }
  ~RoundedWeights() {
    for (std::size_t k = 0; k < parameters_.size(); ++k)
      parameters_[k]->value = std::move(masters_[k]);
  }
  RoundedWeights(const RoundedWeights&) = delete;
  RoundedWeights& operator=(const RoundedWeights&) = delete;

 private:
  const std::vector<Parameter*>& parameters_;
  std::vector<Tensor> masters_;
};

std::vector<TensorOf<Float16>> rounded_gradients(const std::vector<Parameter*>& parameters) {
  std::vector<TensorOf<Float16>> all;
  for (Parameter* parameter : parameters) {
    const Tensor& gradient = gradient_of(*parameter);
    TensorOf<Float16> rounded(gradient.shape());
    for (std::int64_t i = 0; i < gradient.size(); ++i)
      rounded.data()[i] = Float16(gradient.data()[i]);
    all.push_back(std::move(rounded));
  }
  return all;
}

/// loss_scaling on one rank.
void unscale(const std::vector<TensorOf<Float16>>& scaled, float loss_scale,
             const std::vector<Parameter*>& parameters) {
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Tensor& gradient = gradient_of(*parameters[k]);
    for (std::int64_t i = 0; i < gradient.size(); ++i)
      gradient.data()[i] = static_cast<float>(scaled[k].data()[i]) / loss_scale;
  }
}

}  // namespace

MixedPrecision::MixedPrecision(const LossScale& start)
    : state_{"loss_scale", from_host({start.scale, static_cast<float>(start.good_steps)})} {}

Loss MixedPrecision::find_gradients(Comm& dist, const std::vector<Parameter*>& parameters,
                                    const std::function<Loss(float factor)>& find_gradients,
                                    const std::function<void()>& average, bool& skip) {
  LossScale now;
  now.scale = state_.value.data()[0];
  now.good_steps = static_cast<int>(state_.value.data()[1]);

  Loss loss;
  {
    const RoundedWeights rounded(parameters);
    loss = find_gradients(now.scale);
  }
  const std::vector<TensorOf<Float16>> scaled = rounded_gradients(parameters);
  if (average) {
    unscale(scaled, now.scale, parameters);
    average();
  } else {
    loss_scaling(dist, scaled, now.scale, parameters);
  }
  dynamic_loss_scaling(dist, parameters, now, skip);

  state_.value.data()[0] = now.scale;
  state_.value.data()[1] = static_cast<float>(now.good_steps);
  return loss;
}

}  // namespace rankbox::train
