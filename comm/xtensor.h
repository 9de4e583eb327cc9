// A host tensor as an xtensor expression, for more arithmetic than comm/tensor.h has.
//
//   auto x = as_xtensor(tensor);          // a view: shares the tensor's memory, keeps its shape
//   xt::noalias(x) = xt::tanh(x) * 2;
//
// Including this file costs some seconds of compile time, so no header that learners include may
// include it. Host backends only: host code cannot access a tensor on a GPU.
#pragma once

#include <cstddef>
#include <vector>

#include <xtensor/xadapt.hpp>

#include "comm/tensor.h"

namespace rankbox {

/// Valid until the tensor is destroyed or assigned to. An empty tensor is a view of shape {0}.
template <class T>
auto as_xtensor(TensorOf<T>& tensor) {
  const std::vector<std::int64_t>& extents = tensor.shape().extents();
  std::vector<std::size_t> shape(extents.begin(), extents.end());
  if (shape.empty()) shape.push_back(0);
  return xt::adapt(tensor.data(), static_cast<std::size_t>(tensor.size()), xt::no_ownership(),
                   shape);
}

template <class T>
auto as_xtensor(const TensorOf<T>& tensor) {
  const std::vector<std::int64_t>& extents = tensor.shape().extents();
  std::vector<std::size_t> shape(extents.begin(), extents.end());
  if (shape.empty()) shape.push_back(0);
  return xt::adapt(tensor.data(), static_cast<std::size_t>(tensor.size()), xt::no_ownership(),
                   shape);
}

}  // namespace rankbox
