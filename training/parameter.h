// A parameter: a tensor with a name and a gradient, which training changes.
//
//   gradient_of(weight) += contribution;      // backward adds
//   zero_gradients(model.parameters());       // before the next step
//
// A gradient is empty until something is added to it, so a rank that need not keep one (zero2,
// zero3) can free it: `parameter.gradient = {}`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "comm/tensor.h"

namespace rankbox {

/// A tensor with a name; checkpoints consist of these.
template <class T>
struct NamedTensorOf {
  std::string name;
  TensorOf<T> value;
};
using NamedTensor = NamedTensorOf<float>;

template <class T>
struct ParameterOf {
  std::string name;
  TensorOf<T> value;
  /// Empty, or of value's shape: the sum over all backward passes since it was empty or zero.
  TensorOf<T> gradient = {};
};
using Parameter = ParameterOf<float>;

/// The gradient to add to: zeros if it was empty.
template <class T>
TensorOf<T>& gradient_of(ParameterOf<T>& parameter) {
  if (parameter.gradient.empty()) parameter.gradient = zeros<T>(parameter.value.shape());
  return parameter.gradient;
}

/// Keeps the memory; empty gradients stay empty.
template <class T>
void zero_gradients(const std::vector<ParameterOf<T>*>& parameters) {
  for (ParameterOf<T>* parameter : parameters) detail::fill(parameter->gradient, 0.0);
}

/// The total number of elements.
template <class T>
std::int64_t count_elements(const std::vector<ParameterOf<T>*>& parameters) {
  std::int64_t count = 0;
  for (const ParameterOf<T>* parameter : parameters) count += parameter->value.size();
  return count;
}

}  // namespace rankbox
