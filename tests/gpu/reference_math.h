// The arithmetic of kernels.h as plain loops over host memory, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "comm/dtype.h"
#include "comm/reduce_op.h"

namespace rankbox::gpu {

/// As with_type(), but for bools, which have the kernels of bytes.
template <class Fn>
void with_number_type(DType dtype, Fn fn) {
  with_type(dtype, [&]<class T>(T zero) {
    if constexpr (!std::is_same_v<T, bool>) fn(zero);
  });
}

/// Returns x op y; AVG adds.
template <class T>
T reference(ReduceOp op, T x, T y) {
  if constexpr (ReducedFloat<T>) {
    return T(reference(op, float{x}, float{y}));
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (op == ReduceOp::PRODUCT) return static_cast<T>(static_cast<U>(x) * static_cast<U>(y));
    if (op == ReduceOp::MAX) return x > y ? x : y;
    if (op == ReduceOp::MIN) return x < y ? x : y;
    return static_cast<T>(static_cast<U>(x) + static_cast<U>(y));
  } else {
    if (op == ReduceOp::PRODUCT) return x * y;
    if (op == ReduceOp::MAX) return x > y ? x : y;
    if (op == ReduceOp::MIN) return x < y ? x : y;
    return x + y;
  }
}

template <class T>
std::vector<T> reference(ReduceOp op, std::vector<T> x, const std::vector<T>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = reference(op, x[i], y[i]);
  return x;
}

/// Returns x / divisor, in the type of the computation.
template <class T>
T reference_quotient(T x, int divisor) {
  if constexpr (ReducedFloat<T>) {
    return T(float{x} / static_cast<float>(divisor));
  } else {
    return static_cast<T>(x / static_cast<T>(divisor));
  }
}

/// Returns values of both signs that distinguish neighbouring positions, small enough to be added
/// and multiplied without overflow. Never 0.
template <class T>
std::vector<T> some_values(std::int64_t count, int seed) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(count));
  std::uint32_t state = 12345u + static_cast<std::uint32_t>(seed) * 7919u;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    const int whole = static_cast<int>(state >> 20) % 199 - 99;
    const int nonzero = whole == 0 ? 100 : whole;
    if constexpr (std::is_integral_v<T>) {
      values.push_back(static_cast<T>(nonzero));
    } else {
      values.push_back(T(static_cast<float>(nonzero) * 0.37f));
    }
  }
  return values;
}

/// Returns the values where arithmetic fails first: infinities, NaN, zeros of both signs, the
/// largest and smallest numbers.
template <class T>
std::vector<T> special_values() {
  if constexpr (ReducedFloat<T>) {
    std::vector<T> values;
    for (const float value : special_values<float>()) values.push_back(T(value));
    // The largest, the smallest, the last subnormal, the first normal, and 1 plus a bit: of
    // float16, then of bfloat16.
    constexpr std::uint16_t kBits[] = {0x7bff, 0xfbff, 0x0001, 0x8001, 0x03ff, 0x0400,
                                       0x3c01, 0x7f7f, 0xff7f, 0x007f, 0x0080, 0x3f81};
    for (const std::uint16_t bits : kBits) values.push_back(T::from_bits(bits));
    return values;
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    return {T(0),
            T(1),
            T(-1),
            T(2),
            T(-2),
            T(3),
            Limits::max(),
            Limits::min(),
            T(Limits::max() - 1),
            T(Limits::min() + 1)};
  } else {
    using Limits = std::numeric_limits<T>;
    return {T(0.0),
            T(-0.0),
            T(1),
            T(-1),
            T(3),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN(),
            Limits::max(),
            Limits::lowest(),
            Limits::min(),
            Limits::denorm_min(),
            T(0.1),
            T(65504),
            T(1e-5)};
  }
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return x != x;
  }
}

/// Returns whether the bits are equal; all NaN count as equal.
template <class T>
bool same(T x, T y) {
  return (is_nan(x) && is_nan(y)) || std::memcmp(&x, &y, sizeof x) == 0;
}

/// Returns the first index where they differ, or -1.
template <class T>
std::int64_t first_difference(const std::vector<T>& x, const std::vector<T>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!same(x[i], y[i])) return static_cast<std::int64_t>(i);
  }
  return -1;
}

}  // namespace rankbox::gpu
