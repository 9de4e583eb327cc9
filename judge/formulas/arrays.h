// Tensors as xtensor's arrays, and back: copies, so that tensors may be on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>

#include "comm/tensor.h"

namespace rankbox::formula {

/// Make one of each sum, mean or maximum along an axis before an expression broadcasts it: as a lazy
/// operand it is evaluated wrongly (xtensor 0.24).
using Array = xt::xarray<double>;

inline Array array_of(const TensorOf<double>& tensor) {
  const std::vector<std::int64_t>& extents = tensor.shape().extents();
  return xt::adapt(to_host(tensor), std::vector<std::size_t>(extents.begin(), extents.end()));
}

inline TensorOf<double> tensor_of(const Array& array) {
  const std::vector<std::int64_t> extents(array.shape().begin(), array.shape().end());
  return from_host(std::vector<double>(array.begin(), array.end()), Shape(extents));
}

}  // namespace rankbox::formula
