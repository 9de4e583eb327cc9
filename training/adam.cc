#include "training/adam.h"

#include <cmath>

#include "compute/for_each.h"
#include "training/slice_checks.h"

namespace rankbox {

namespace {

template <class T>
void adam_elements(Slice value, Slice gradient, Slice m, Slice v, double t,
                   const AdamOptions& options) {
  const double correction1 = 1 - std::pow(options.beta1, t);
  const double correction2 = 1 - std::pow(options.beta2, t);
  const auto beta1 = static_cast<T>(options.beta1), rest1 = static_cast<T>(1 - options.beta1);
  const auto beta2 = static_cast<T>(options.beta2), rest2 = static_cast<T>(1 - options.beta2);
  const auto keep = static_cast<T>(1 - options.learning_rate * options.weight_decay);
  const auto rate = static_cast<T>(options.learning_rate / correction1);
  const auto larger = static_cast<T>(1 / correction2);
  const auto epsilon = static_cast<T>(options.epsilon);
  T* const w = elements<T>(value);
  const T* const g = elements<T>(gradient);
  T* const mean = elements<T>(m);
  T* const square = elements<T>(v);
  for_each(value.size(), [=] RANKBOX_PORTABLE(std::int64_t i) {
    mean[i] = beta1 * mean[i] + rest1 * g[i];
    square[i] = beta2 * square[i] + rest2 * g[i] * g[i];
    w[i] = keep * w[i] - rate * mean[i] / (std::sqrt(larger * square[i]) + epsilon);
  });
}

}  // namespace

void adam_step(Slice value, Slice gradient, Slice m, Slice v, std::int64_t t,
               const AdamOptions& options) {
  check_alike("adam_step", value, {gradient, m, v});
  if (t < 1) throw InvalidArgument(fmt::format("adam_step: step {}, expected 1 or more", t));
  with_real_type("adam_step", value.dtype(), [&](auto zero) {
    adam_elements<decltype(zero)>(value, gradient, m, v, static_cast<double>(t), options);
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
  const T steps = to_host(steps_.value).front() + 1;
  detail::fill(steps_.value, static_cast<double>(steps));
  const auto t = static_cast<std::int64_t>(steps);
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
