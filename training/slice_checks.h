// What optimizers ask of the slices that they are given.
#pragma once

#include <initializer_list>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/slice.h"
#include "comm/without_data.h"

namespace rankbox {

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

/// The slice's elements. REQUIRES: they are Ts.
template <class T>
T* elements(Slice slice) {
  require_data(slice.data(), "elements", Place());
  return static_cast<T*>(slice.data());
}

}  // namespace rankbox
