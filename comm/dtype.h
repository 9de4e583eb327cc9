// The element types a tensor may have.
#pragma once

#include <cstdint>
#include <type_traits>

namespace rankbox {

enum class DType : std::uint8_t { kFloat32, kFloat64, kInt32, kInt64 };

/// Bytes of one element.
constexpr std::int64_t size_of(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kInt32 ? 4 : 8;
}

/// "float32", as NumPy and PyTorch spell it.
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
  } else {
    static_assert(std::is_same_v<T, std::int64_t>,
                  "tensors hold float, double, int32_t or int64_t");
    return DType::kInt64;
  }
}

}  // namespace rankbox
