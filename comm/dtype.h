// The element types a tensor may have.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "comm/bfloat16.h"
#include "comm/float16.h"
#include "comm/reduce_op.h"

namespace rankbox {

/// A bool is a byte, 0 or 1: SUM and MAX are "or", PRODUCT and MIN "and".
enum class DType : std::uint8_t {
  kFloat32,
  kFloat64,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kUInt8,
  kBool,
};

inline constexpr std::array kDTypes = {DType::kFloat32, DType::kFloat64, DType::kInt32,
                                       DType::kInt64,   DType::kFloat16, DType::kBFloat16,
                                       DType::kUInt8,   DType::kBool};

/// The floats of 16 bits: stored and sent as such, computed with as float, and rounded after each
/// operation.
template <class T>
concept ReducedFloat = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

constexpr bool is_reduced_float(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

/// Returns the bytes of one element.
constexpr std::int64_t size_of(DType dtype) {
  if (dtype == DType::kUInt8 || dtype == DType::kBool) return 1;
  if (is_reduced_float(dtype)) return 2;
  return dtype == DType::kFloat32 || dtype == DType::kInt32 ? 4 : 8;
}

/// Returns "float32", as NumPy and PyTorch spell it.
constexpr const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
    case DType::kInt32:
      return "int32";
    case DType::kInt64:
      return "int64";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kUInt8:
      return "uint8";
    case DType::kBool:
      return "bool";
  }
  return "unknown";
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::kFloat32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::kFloat64;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return DType::kInt32;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return DType::kInt64;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return DType::kFloat16;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return DType::kBFloat16;
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return DType::kUInt8;
  } else {
    static_assert(std::is_same_v<T, bool>,
                  "tensors hold float, double, int32_t, int64_t, uint8_t, bool, Float16 or "
                  "BFloat16");
    return DType::kBool;
  }
}

constexpr bool is_integer(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kUInt8;
}

/// Returns the operation on a byte that does the same as `op` on a bool.
constexpr ReduceOp op_on_bytes(ReduceOp op, DType dtype) {
  if (dtype != DType::kBool) return op;
  return op == ReduceOp::SUM ? ReduceOp::MAX : op == ReduceOp::PRODUCT ? ReduceOp::MIN : op;
}

/// Calls fn with a value of the C++ type of dtype.
template <class Fn>
constexpr void with_type(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::kFloat32:
      return fn(float{});
    case DType::kFloat64:
      return fn(double{});
    case DType::kInt32:
      return fn(std::int32_t{});
    case DType::kInt64:
      return fn(std::int64_t{});
    case DType::kFloat16:
      return fn(Float16{});
    case DType::kBFloat16:
      return fn(BFloat16{});
    case DType::kUInt8:
      return fn(std::uint8_t{});
    case DType::kBool:
      return fn(bool{});
  }
}

}  // namespace rankbox
