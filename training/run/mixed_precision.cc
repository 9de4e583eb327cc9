#include "training/run/mixed_precision.h"

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

/// A layer that trains in 16 bits, as T, and evaluates with the masters.
template <class T>
class RoundingLayer : public Layer {
 public:
  explicit RoundingLayer(std::unique_ptr<Layer> layer) : layer_(std::move(layer)) {}

  Tensor forward(Tensor x, Saved& saved) override {
    if (!saved.training()) return layer_->forward(std::move(x), saved);
    const std::vector<Parameter*> own = parameters();
    const RoundedWeights<T> weights(own);
    return layer_->forward(std::move(x), saved);
  }
  Tensor backward(Tensor dy, Saved& saved) override {
    // Rounded alone and added up in 32 bits: in a sum of 16 bits later addends would be lost.
    const std::vector<Parameter*> own = parameters();
    std::vector<Tensor> sums;
    for (Parameter* parameter : own) sums.push_back(std::exchange(parameter->gradient, {}));
    Tensor dx;
    {
      const RoundedWeights<T> weights(own);
      dx = layer_->backward(std::move(dy), saved);
    }
    for (std::size_t k = 0; k < own.size(); ++k) {
      Tensor& gradient = own[k]->gradient;
      if (gradient.empty()) {
        gradient = std::move(sums[k]);
        continue;
      }
      cast(rounded<T>(gradient), gradient);
      if (!sums[k].empty()) gradient += sums[k];
    }
    return dx;
  }
  std::vector<Parameter*> parameters() override { return layer_->parameters(); }
  std::vector<NamedTensor*> statistics() override { return layer_->statistics(); }
  void omit_input_gradient() override { layer_->omit_input_gradient(); }

 private:
  std::unique_ptr<Layer> layer_;
};

class LossScaleLayer : public Layer {
 public:
  explicit LossScaleLayer(const MixedPrecision& mixed) : mixed_(mixed) {}
  Tensor forward(Tensor x, Saved& /*saved*/) override { return x; }
  Tensor backward(Tensor dy, Saved& /*saved*/) override {
    dy *= mixed_.scale();
    return dy;
  }

 private:
  const MixedPrecision& mixed_;
};

}  // namespace

std::optional<MixedPrecision> mixed_precision_of(const Plan& plan) {
  if (plan.precision == Precision::kFp32) return std::nullopt;
  return MixedPrecision(plan.precision);
}

MixedPrecision::MixedPrecision(Precision precision, const LossScale& start)
    : precision_(precision),
      state_{"loss_scale", from_host({start.scale, static_cast<float>(start.good_steps)})} {}

float MixedPrecision::scale() const {
  return precision_ == Precision::kMixed ? to_host(state_.value)[0] : 1;
}

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

  const float factor = scale();
  const std::vector<TensorOf<Float16>> scaled = gradients_in<Float16>(
      parameters, [&] { return find_gradients(factor); }, loss);
  if (average) {
    // loss_scaling on one rank.
    widen(scaled, parameters);
    for (Parameter* parameter : parameters) parameter->gradient /= factor;
    average();
  } else {
    zero_gradients(parameters);  // which loss_scaling requires
    loss_scaling(dist, scaled, factor, parameters);
  }
  skip = update_scale(dist, parameters);
  return loss;
}

Model MixedPrecision::rounding_layers(const Model& recipes) const {
  Model all;
  for (const auto& recipe : recipes) {
    all.push_back(
        {recipe.name, [precision = precision_, make = recipe.make]() -> std::unique_ptr<Layer> {
           if (precision == Precision::kBf16)
             return std::make_unique<RoundingLayer<BFloat16>>(make());
           return std::make_unique<RoundingLayer<Float16>>(make());
         }});
  }
  return all;
}

std::unique_ptr<Layer> MixedPrecision::loss_scale_layer() {
  return std::make_unique<LossScaleLayer>(*this);
}

bool MixedPrecision::accept(Comm& dist, const std::vector<Parameter*>& parameters) {
  if (precision_ == Precision::kBf16) return true;
  const float factor = scale();
  for (Parameter* parameter : parameters) {
    if (!parameter->gradient.empty()) parameter->gradient /= factor;
  }
  return !update_scale(dist, parameters);
}

bool MixedPrecision::update_scale(Comm& dist, const std::vector<Parameter*>& parameters) {
  const std::vector<float> state = to_host(state_.value);
  LossScale now;
  now.scale = state[0];
  now.good_steps = static_cast<int>(state[1]);
  bool skip = false;
  dynamic_loss_scaling(dist, parameters, now, skip);
  copy(state_.value, from_host({now.scale, static_cast<float>(now.good_steps)}));
  return skip;
}

}  // namespace rankbox::train
