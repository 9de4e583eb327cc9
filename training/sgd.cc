#include "training/sgd.h"

#include "compute/for_each.h"
#include "training/slice_checks.h"

namespace rankbox {

namespace {

template <class T>
void sgd_elements(Slice value, Slice gradient, Slice velocity, const SgdOptions& options) {
  const auto rate = static_cast<T>(options.learning_rate);
  const auto momentum = static_cast<T>(options.momentum);
  const auto decay = static_cast<T>(options.weight_decay);
  T* const w = elements<T>(value);
  const T* const g = elements<T>(gradient);
  T* const v = elements<T>(velocity);
  if (options.momentum == 0) {
    for_each(value.size(),
             [=] RANKBOX_PORTABLE(std::int64_t i) { w[i] = w[i] - rate * (g[i] + decay * w[i]); });
  } else {
    for_each(value.size(), [=] RANKBOX_PORTABLE(std::int64_t i) {
      v[i] = momentum * v[i] + g[i] + decay * w[i];
      w[i] = w[i] - rate * v[i];
    });
  }
}

}  // namespace

void sgd_step(Slice value, Slice gradient, Slice velocity, const SgdOptions& options) {
  check_alike("sgd_step", value, {gradient});
  if (options.momentum != 0) check_alike("sgd_step", value, {velocity});
  with_real_type("sgd_step", value.dtype(), [&](auto zero) {
    sgd_elements<decltype(zero)>(value, gradient, velocity, options);
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
