// Element types and arithmetic of the kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "comm/dtype.h"
#include "comm/reduce_op.h"
#include "compute/wrapping.h"
#include "gpu/device/small_operation.h"

namespace rankbox::gpu {

/// The device type of a tensor's element: the same type, except CUDA's 16-bit floats and
/// bools.
template <class T>
struct DeviceType {
  using Type = T;
};
template <>
struct DeviceType<Float16> {
  using Type = __half;
};
template <>
struct DeviceType<bool> {
  using Type = std::uint8_t;  // see op_on_bytes()
};
template <>
struct DeviceType<BFloat16> {
  using Type = __nv_bfloat16;
};
template <class T>
using OnDevice = typename DeviceType<T>::Type;
static_assert(sizeof(__half) == sizeof(Float16) && sizeof(__nv_bfloat16) == sizeof(BFloat16));

/// CUDA's 16-bit floats.
template <class T>
concept DeviceReducedFloat = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

/// The type to compute in.
template <class T>
using Wide = std::conditional_t<DeviceReducedFloat<T>, float, T>;

template <class T>
__device__ __forceinline__ Wide<T> widened(T x) {
  if constexpr (std::is_same_v<T, __half>) {
    return __half2float(x);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __bfloat162float(x);
  } else {
    return x;
  }
}

/// Rounds to nearest.
template <class T>
__device__ __forceinline__ T narrowed(Wide<T> x) {
  if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(x);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16_rn(x);
  } else {
    return x;
  }
}

/// Integers that overflow wrap around.
template <class T>
__device__ __forceinline__ T product(T x, T y) {
  using W = Wrapping<T>;
  return static_cast<T>(static_cast<W>(x) * static_cast<W>(y));
}

/// Returns x op y. If either is NaN, MAX and MIN return the second, as in host/arithmetic.cc.
template <ReduceOp op, class T>
__device__ __forceinline__ T combined(T x_stored, T y_stored) {
  const Wide<T> x = widened(x_stored);
  const Wide<T> y = widened(y_stored);
  if constexpr (op == ReduceOp::PRODUCT) {
    return narrowed<T>(product(x, y));
  } else if constexpr (op == ReduceOp::MAX) {
    return x > y ? x_stored : y_stored;
  } else if constexpr (op == ReduceOp::MIN) {
    return x < y ? x_stored : y_stored;
  } else {
    using W = Wrapping<Wide<T>>;
    return narrowed<T>(static_cast<Wide<T>>(static_cast<W>(x) + static_cast<W>(y)));
  }
}

/// Returns x after a kFill, kScale or kDivide by `by`.
template <SmallOperation::Kind kind, class T>
__device__ __forceinline__ T changed(T x, Wide<T> by) {
  if constexpr (kind == SmallOperation::Kind::kFill) {
    return narrowed<T>(by);
  } else if constexpr (kind == SmallOperation::Kind::kScale) {
    return narrowed<T>(product(widened(x), by));
  } else {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      // The smallest integer has no opposite; the result of multiplying is defined.
      if (by == T{-1}) return product(x, by);
    }
    return narrowed<T>(widened(x) / by);
  }
}

/// Calls fn with a value of dtype's device type.
template <class Fn>
constexpr void with_device_type(DType dtype, Fn fn) {
  with_type(dtype, [&](auto zero) { fn(OnDevice<decltype(zero)>{}); });
}

/// Calls fn with the operation as a type, fn(Op<ReduceOp::MAX>()); AVG becomes SUM.
template <ReduceOp op>
using Op = std::integral_constant<ReduceOp, op>;

template <class Fn>
constexpr void with_op(ReduceOp op, Fn fn) {
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      return fn(Op<ReduceOp::SUM>());
    case ReduceOp::PRODUCT:
      return fn(Op<ReduceOp::PRODUCT>());
    case ReduceOp::MAX:
      return fn(Op<ReduceOp::MAX>());
    case ReduceOp::MIN:
      return fn(Op<ReduceOp::MIN>());
  }
}

}  // namespace rankbox::gpu
