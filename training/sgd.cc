#include "training/sgd.h"

#include <xtensor/xnoalias.hpp>

#include "training/flat_view.h"

namespace rankbox {

void sgd_step(Slice value, Slice gradient, Slice velocity, const SgdOptions& options) {
  check_alike("sgd_step", value, {gradient});
  with_real_type("sgd_step", value.dtype(), [&]<class T>(T) {
    const auto rate = static_cast<T>(options.learning_rate);
    const auto decay = static_cast<T>(options.weight_decay);
    auto w = flat_view<T>(value);
    const auto g = flat_view<const T>(gradient);
    if (options.momentum == 0) {
      xt::noalias(w) = w - rate * (g + decay * w);
      return;
    }
    check_alike("sgd_step", value, {velocity});
    auto v = flat_view<T>(velocity);
    xt::noalias(v) = static_cast<T>(options.momentum) * v + g + decay * w;
    xt::noalias(w) = w - rate * v;
  });
}

template <class T>
SgdOf<T>::SgdOf(std::vector<ParameterOf<T>*> parameters, const SgdOptions& sgd_options)
    : options(sgd_options), parameters_(std::move(parameters)) {
  for (const ParameterOf<T>* parameter : parameters_) {
    velocities_.push_back({parameter->name + ".velocity", {}});
    if (options.momentum != 0) velocities_.back().value = zeros<T>(parameter->value.shape());
  }
}

template <class T>
void SgdOf<T>::step() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i]->gradient.empty()) continue;
    sgd_step(parameters_[i]->value, parameters_[i]->gradient, velocities_[i].value, options);
  }
}

template <class T>
std::vector<NamedTensorOf<T>*> SgdOf<T>::state() {
  std::vector<NamedTensorOf<T>*> all;
  if (options.momentum == 0) return all;
  for (NamedTensorOf<T>& velocity : velocities_) all.push_back(&velocity);
  return all;
}

template class SgdOf<float>;
template class SgdOf<double>;

}  // namespace rankbox
