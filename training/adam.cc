#include "training/adam.h"

#include <cmath>

#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>

#include "training/flat_view.h"

namespace rankbox {

void adam_step(Slice value, Slice gradient, Slice m, Slice v, std::int64_t t,
               const AdamOptions& options) {
  check_alike("adam_step", value, {gradient, m, v});
  if (t < 1) throw InvalidArgument(fmt::format("adam_step: step {}, expected 1 or more", t));
  with_real_type("adam_step", value.dtype(), [&]<class T>(T) {
    const auto of = [](double number) { return static_cast<T>(number); };
    const auto steps = static_cast<double>(t);
    const double correction1 = 1 - std::pow(options.beta1, steps);
    const double correction2 = 1 - std::pow(options.beta2, steps);
    auto w = flat_view<T>(value);
    const auto g = flat_view<const T>(gradient);
    auto mean = flat_view<T>(m);
    auto square = flat_view<T>(v);
    xt::noalias(mean) = of(options.beta1) * mean + of(1 - options.beta1) * g;
    xt::noalias(square) = of(options.beta2) * square + of(1 - options.beta2) * g * g;
    xt::noalias(w) = of(1 - options.learning_rate * options.weight_decay) * w -
                     of(options.learning_rate / correction1) * mean /
                         (xt::sqrt(of(1 / correction2) * square) + of(options.epsilon));
  });
}

template <class T>
AdamOf<T>::AdamOf(std::vector<ParameterOf<T>*> parameters, const AdamOptions& adam_options)
    : options(adam_options), parameters_(std::move(parameters)), steps_{"steps", zeros<T>(1)} {
  for (const ParameterOf<T>* parameter : parameters_) {
    means_.push_back({parameter->name + ".mean", zeros<T>(parameter->value.shape())});
    squares_.push_back({parameter->name + ".square", zeros<T>(parameter->value.shape())});
  }
}

template <class T>
void AdamOf<T>::step() {
  const auto t = static_cast<std::int64_t>(steps_.value.data()[0] += 1);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i]->gradient.empty()) continue;
    adam_step(parameters_[i]->value, parameters_[i]->gradient, means_[i].value, squares_[i].value,
              t, options);
  }
}

template <class T>
std::vector<NamedTensorOf<T>*> AdamOf<T>::state() {
  std::vector<NamedTensorOf<T>*> all = {&steps_};
  for (NamedTensorOf<T>& mean : means_) all.push_back(&mean);
  for (NamedTensorOf<T>& square : squares_) all.push_back(&square);
  return all;
}

template class AdamOf<float>;
template class AdamOf<double>;

}  // namespace rankbox
