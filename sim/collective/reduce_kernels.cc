#include "sim/collective/reduce_kernels.h"

#include <cstddef>
#include <cstdint>

#include "compute/vectors.h"
#include "compute/wrapping.h"

namespace rankbox::sim {
namespace {

template <class T, int bytes>
struct VectorOf {
  using InRegister __attribute__((vector_size(bytes))) = T;
  // Memory need not be aligned.
  using InMemory __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias)) = T;
};

/// x = x op y, for scalars and vectors. By reference: the calling convention for vectors depends on
/// the core.
/// @tparam W the same with Wrapping elements
template <ReduceOp op, class W, class V>
inline __attribute__((always_inline)) void combine(V& x, const V& y) {
  if constexpr (op == ReduceOp::PRODUCT) {
    x = V(W(x) * W(y));
  } else if constexpr (op == ReduceOp::MAX) {
    x = x > y ? x : y;
  } else if constexpr (op == ReduceOp::MIN) {
    x = x < y ? x : y;
  } else {
    x = V(W(x) + W(y));
  }
}

float combined(ReduceOp op, float x, float y) {
  switch (op) {
    case ReduceOp::PRODUCT:
      return x * y;
    case ReduceOp::MAX:
      return x > y ? x : y;
    case ReduceOp::MIN:
      return x < y ? x : y;
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      break;
  }
  return x + y;
}

/// @tparam bytes of a register: the maximum of wider vectors would be taken element by element
template <int bytes, class T, ReduceOp op>
inline __attribute__((always_inline)) void reduce(const void* const* inputs, int ranks,
                                                  void* const* outputs, int copies,
                                                  std::int64_t count) {
  using V = typename VectorOf<T, bytes>::InRegister;
  using W = typename VectorOf<Wrapping<T>, bytes>::InRegister;
  using Memory = typename VectorOf<T, bytes>::InMemory;
  constexpr auto kLanes = static_cast<std::int64_t>(bytes / sizeof(T));
  constexpr std::int64_t kAtOnce = 4;  // vectors in registers: hides the latency of the operation
  const auto in = [&](int rank, std::int64_t i) { return static_cast<const T*>(inputs[rank]) + i; };
  const auto out = [&](int copy, std::int64_t i) { return static_cast<T*>(outputs[copy]) + i; };

  std::int64_t i = 0;
  for (; i + kAtOnce * kLanes <= count; i += kAtOnce * kLanes) {
    V x[kAtOnce];
    // Without the pragmas, -O2 keeps x in memory.
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kAtOnce; ++v)
      x[v] = *reinterpret_cast<const Memory*>(in(0, i + v * kLanes));
    for (int rank = 1; rank < ranks; ++rank) {
#pragma GCC unroll 4
      for (std::int64_t v = 0; v < kAtOnce; ++v) {
        const V y = *reinterpret_cast<const Memory*>(in(rank, i + v * kLanes));
        combine<op, W>(x[v], y);
      }
    }
    if constexpr (op == ReduceOp::AVG) {
#pragma GCC unroll 4
      for (V& lane : x) lane = lane / static_cast<T>(ranks);
    }
    for (int copy = 0; copy < copies; ++copy) {
#pragma GCC unroll 4
      for (std::int64_t v = 0; v < kAtOnce; ++v)
        *reinterpret_cast<Memory*>(out(copy, i + v * kLanes)) = x[v];
    }
  }
  for (; i < count; ++i) {
    T x = *in(0, i);
    for (int rank = 1; rank < ranks; ++rank) combine<op, Wrapping<T>>(x, *in(rank, i));
    if constexpr (op == ReduceOp::AVG) x = static_cast<T>(x / static_cast<T>(ranks));
    for (int copy = 0; copy < copies; ++copy) *out(copy, i) = x;
  }
}

template <int bytes, class T>
inline __attribute__((always_inline)) void reduce(const void* const* inputs, int ranks,
                                                  void* const* outputs, int copies,
                                                  std::int64_t count, ReduceOp op) {
  switch (op) {
    case ReduceOp::SUM:
      return reduce<bytes, T, ReduceOp::SUM>(inputs, ranks, outputs, copies, count);
    case ReduceOp::PRODUCT:
      return reduce<bytes, T, ReduceOp::PRODUCT>(inputs, ranks, outputs, copies, count);
    case ReduceOp::MAX:
      return reduce<bytes, T, ReduceOp::MAX>(inputs, ranks, outputs, copies, count);
    case ReduceOp::MIN:
      return reduce<bytes, T, ReduceOp::MIN>(inputs, ranks, outputs, copies, count);
    case ReduceOp::AVG:
      return reduce<bytes, T, ReduceOp::AVG>(inputs, ranks, outputs, copies, count);
  }
}

template <class T>
void reduce_in_vectors(const void* const* inputs, int ranks, void* const* outputs, int copies,
                       std::int64_t count, ReduceOp op) {
  on_vectors([=](auto width) {
    reduce<decltype(width)::value, T>(inputs, ranks, outputs, copies, count, op);
  });
}

/// Element by element: each operation is rounded to 16 bits, as accumulate() does it.
template <ReducedFloat T>
void reduce_rounding(const void* const* inputs, int ranks, void* const* outputs, int copies,
                     std::int64_t count, ReduceOp op) {
  const auto in = [&](int rank, std::int64_t i) {
    return float{static_cast<const T*>(inputs[rank])[i]};
  };
  for (std::int64_t i = 0; i < count; ++i) {
    float x = in(0, i);
    for (int rank = 1; rank < ranks; ++rank) x = T(combined(op, x, in(rank, i)));
    if (op == ReduceOp::AVG) x = x / static_cast<float>(ranks);
    for (int copy = 0; copy < copies; ++copy) static_cast<T*>(outputs[copy])[i] = T(x);
  }
}

}  // namespace

void reduce_to_all(const void* const* inputs, int ranks, void* const* outputs, int copies,
                   std::int64_t count, DType dtype, ReduceOp op) {
  switch (dtype) {
    case DType::kFloat32:
      return reduce_in_vectors<float>(inputs, ranks, outputs, copies, count, op);
    case DType::kFloat64:
      return reduce_in_vectors<double>(inputs, ranks, outputs, copies, count, op);
    case DType::kInt32:
      return reduce_in_vectors<std::int32_t>(inputs, ranks, outputs, copies, count, op);
    case DType::kInt64:
      return reduce_in_vectors<std::int64_t>(inputs, ranks, outputs, copies, count, op);
    case DType::kFloat16:
      return reduce_rounding<Float16>(inputs, ranks, outputs, copies, count, op);
    case DType::kBFloat16:
      return reduce_rounding<BFloat16>(inputs, ranks, outputs, copies, count, op);
    case DType::kUInt8:
    case DType::kBool:
      return reduce_in_vectors<std::uint8_t>(inputs, ranks, outputs, copies, count,
                                             op_on_bytes(op, dtype));
  }
}

}  // namespace rankbox::sim
