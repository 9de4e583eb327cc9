#include "train/mixed_precision.h"

#include <utility>

#include "compute/autocast.h"
#include "compute/cast.h"
#include "parallel/loss_scaling.h"

namespace rankbox::train {
namespace {

template <class T>
TensorOf<T> rounded(const Tensor& tensor) {
  TensorOf<T> half(tensor.shape());
  cast(tensor, half);
  return half;
}

/// Rounds parameters, and factors of products, to 16-bit values for its lifetime.
template <class T>
class RoundedWeights {
 public:
  explicit RoundedWeights(const std::vector<Parameter*>& parameters) : parameters_(parameters) {
    for (Parameter* parameter : parameters_) {
      Tensor values = empty_like(parameter->value);
      cast(rounded<T>(parameter->value), values);
      masters_.push_back(std::exchange(parameter->value, std::move(values)));
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
  Autocast products_{dtype_of<T>()};
};

/// Returns the loss, and the gradients in 16 bits. Those of the parameters are not changed.
template <class T>
std::vector<TensorOf<T>> gradients_in(const std::vector<Parameter*>& parameters,
                                      const std::function<Loss()>& find_gradients, Loss& loss) {
  {
    const RoundedWeights<T> weights(parameters);
    loss = find_gradients();
  }
  std::vector<TensorOf<T>> all;
  for (Parameter* parameter : parameters) all.push_back(rounded<T>(gradient_of(*parameter)));
  return all;
}

template <class T>
void widen(const std::vector<TensorOf<T>>& gradients, const std::vector<Parameter*>& parameters) {
  for (std::size_t k = 0; k < parameters.size(); ++k)
    cast(gradients[k], gradient_of(*parameters[k]));
}

}  // namespace

MixedPrecision::MixedPrecision(Precision precision, const LossScale& start)
    : precision_(precision),
      state_{"loss_scale", from_host({start.scale, static_cast<float>(start.good_steps)})} {}

std::vector<NamedTensor*> MixedPrecision::state() {
  if (precision_ == Precision::kMixed) return {&state_};
  return {};
}

Loss MixedPrecision::find_gradients(Comm& dist, const std::vector<Parameter*>& parameters,
                                    const std::function<Loss(float factor)>& find_gradients,
                                    const std::function<void()>& average, bool& skip) {
  Loss loss;
  if (precision_ == Precision::kBf16) {
    widen(gradients_in<BFloat16>(
              parameters, [&] { return find_gradients(1); }, loss),
          parameters);
    average();
    skip = false;
    return loss;
  }

  const std::vector<float> state = to_host(state_.value);
  LossScale now;
  now.scale = state[0];
  now.good_steps = static_cast<int>(state[1]);
  const std::vector<TensorOf<Float16>> scaled = gradients_in<Float16>(
      parameters, [&] { return find_gradients(now.scale); }, loss);
  if (average) {
    // loss_scaling on one rank.
    widen(scaled, parameters);
    for (Parameter* parameter : parameters) parameter->gradient /= now.scale;
    average();
  } else {
    loss_scaling(dist, scaled, now.scale, parameters);
  }
  dynamic_loss_scaling(dist, parameters, now, skip);
  copy(state_.value, from_host({now.scale, static_cast<float>(now.good_steps)}));
  return loss;
}

}  // namespace rankbox::train
