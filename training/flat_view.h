// A slice as a one-dimensional xtensor expression, for element-wise operations.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>

#include <fmt/format.h>
#include <xtensor/xadapt.hpp>

#include "comm/errors.h"
#include "comm/slice.h"

namespace rankbox {

/// REQUIRES: the slice's elements are Ts.
template <class T>
auto flat_view(Slice slice) {
  const auto size = static_cast<std::size_t>(slice.size());
  return xt::adapt(static_cast<T*>(slice.data()), size, xt::no_ownership(),
                   std::array<std::size_t, 1>{size});
}

/// Throws InvalidArgument, in the name of `op`, unless all have the length and type of `first`.
inline void check_alike(const char* op, Slice first, std::initializer_list<Slice> others) {
  for (const Slice& other : others) {
    if (other.size() == first.size() && other.dtype() == first.dtype()) continue;
    throw InvalidArgument(fmt::format("{}: {} elements of {} meet {} of {}: all must be alike", op,
                                      first.size(), name_of(first.dtype()), other.size(),
                                      name_of(other.dtype())));
  }
}

/// Calls fn with a float or a double, depending on dtype. Throws InvalidArgument for all other
/// types.
template <class Fn>
void with_real_type(const char* op, DType dtype, Fn fn) {
  if (dtype == DType::kFloat32) return fn(float{});
  if (dtype == DType::kFloat64) return fn(double{});
  throw InvalidArgument(
      fmt::format("{}: takes float32 and float64, and not {}", op, name_of(dtype)));
}

}  // namespace rankbox
