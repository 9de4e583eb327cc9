#include "tests/gpu/emulation/nccl_reduce.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "comm/dtype.h"

namespace rankbox::gpu::emulation {
namespace {

template <class T>
T combine(T a, T b, ncclRedOp_t op) {
  if (op == ncclMax) return a > b ? a : b;
  if (op == ncclMin) return a < b ? a : b;
  if constexpr (std::is_integral_v<T>) {
    // Unsigned: overflow wraps around.
    using Unsigned = std::make_unsigned_t<T>;
    const auto x = static_cast<Unsigned>(a);
    const auto y = static_cast<Unsigned>(b);
    return static_cast<T>(op == ncclProd ? x * y : x + y);
  } else {
    return static_cast<T>(op == ncclProd ? a * b : a + b);
  }
}

template <class T>
void reduce(const std::vector<const void*>& inputs, T* out, std::size_t count, ncclRedOp_t op) {
  const auto ranks = inputs.size();
  const bool weighs = op == ncclAvg && !std::is_integral_v<T>;
  for (std::size_t i = 0; i < count; ++i) {
    T sum{};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      T value = static_cast<const T*>(inputs[rank])[i];
      if constexpr (!std::is_integral_v<T>) {
        using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
        if (weighs) value = static_cast<T>(value * (Wide{1} / static_cast<Wide>(ranks)));
      }
      sum = rank == 0 ? value : combine(sum, value, op);
    }
    if constexpr (std::is_integral_v<T>) {
      if (op == ncclAvg) sum = static_cast<T>(sum / static_cast<T>(ranks));
    }
    out[i] = sum;
  }
}

}  // namespace

std::size_t element_bytes(ncclDataType_t dtype) {
  switch (dtype) {
    case ncclInt8:  // bytes, which are only sent
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclFloat64:
      return 8;
    default:
      return 0;
  }
}

void reduce_arrays(const std::vector<const void*>& inputs, void* out, std::size_t count,
                   ncclDataType_t dtype, ncclRedOp_t op) {
  switch (dtype) {
    case ncclUint8:
      return reduce(inputs, static_cast<std::uint8_t*>(out), count, op);
    case ncclInt32:
      return reduce(inputs, static_cast<std::int32_t*>(out), count, op);
    case ncclInt64:
      return reduce(inputs, static_cast<std::int64_t*>(out), count, op);
    case ncclFloat16:
      return reduce(inputs, static_cast<Float16*>(out), count, op);
    case ncclFloat32:
      return reduce(inputs, static_cast<float*>(out), count, op);
    case ncclFloat64:
      return reduce(inputs, static_cast<double*>(out), count, op);
    case ncclBfloat16:
      return reduce(inputs, static_cast<BFloat16*>(out), count, op);
    default:
      return;
  }
}

}  // namespace rankbox::gpu::emulation
