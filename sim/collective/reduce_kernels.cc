#include "sim/collective/reduce_kernels.h"

#include <cstddef>
#include <cstring>

namespace rankbox::sim {
namespace {

// The widest vectors of current cores; the compiler splits them where cores have narrower ones.
// Memory need not be aligned.
constexpr std::size_t kVectorBytes = 64;

// One version per generation of x86, selected at program start. Sanitizers cannot instrument code
// that is selected before they start.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__clang__)
#define RANKBOX_FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RANKBOX_FOR_EACH_CPU
#endif

template <class T>
struct VectorOf {
  using InRegister __attribute__((vector_size(kVectorBytes))) = T;
  using InMemory __attribute__((vector_size(kVectorBytes), aligned(sizeof(T)), may_alias)) = T;
};

/// x = x op y, for scalars and vectors. By reference: the calling convention for vectors depends on
/// the core.
template <ReduceOp op, class V>
inline __attribute__((always_inline)) void combine(V& x, const V& y) {
  if constexpr (op == ReduceOp::PRODUCT) {
    x = x * y;
  } else if constexpr (op == ReduceOp::MAX) {
    x = x > y ? x : y;
  } else if constexpr (op == ReduceOp::MIN) {
    x = x < y ? x : y;
  } else {
    x = x + y;
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

template <class T, ReduceOp op>
inline __attribute__((always_inline)) void reduce(const void* const* inputs, int ranks,
                                                  void* const* outputs, int copies,
                                                  std::int64_t count) {
  using V = typename VectorOf<T>::InRegister;
  using Memory = typename VectorOf<T>::InMemory;
  constexpr auto kLanes = static_cast<std::int64_t>(kVectorBytes / sizeof(T));
  constexpr std::int64_t kAtOnce = 4;  // vectors in registers: hides the latency of the operation
  const auto in = [&](int rank, std::int64_t i) { return static_cast<const T*>(inputs[rank]) + i; };
  const auto out = [&](int copy, std::int64_t i) { return static_cast<T*>(outputs[copy]) + i; };

  std::int64_t i = 0;
  for (; i + kAtOnce * kLanes <= count; i += kAtOnce * kLanes) {
    V x[kAtOnce];
    for (std::int64_t v = 0; v < kAtOnce; ++v)
      x[v] = *reinterpret_cast<const Memory*>(in(0, i + v * kLanes));
    for (int rank = 1; rank < ranks; ++rank) {
      for (std::int64_t v = 0; v < kAtOnce; ++v) {
        const V y = *reinterpret_cast<const Memory*>(in(rank, i + v * kLanes));
        combine<op, V>(x[v], y);
      }
    }
    if constexpr (op == ReduceOp::AVG) {
      for (V& lane : x) lane = lane / static_cast<T>(ranks);
    }
    for (int copy = 0; copy < copies; ++copy) {
      for (std::int64_t v = 0; v < kAtOnce; ++v)
        *reinterpret_cast<Memory*>(out(copy, i + v * kLanes)) = x[v];
    }
  }
  for (; i < count; ++i) {
    T x = *in(0, i);
    for (int rank = 1; rank < ranks; ++rank) combine<op, T>(x, *in(rank, i));
    if constexpr (op == ReduceOp::AVG) x = static_cast<T>(x / static_cast<T>(ranks));
    for (int copy = 0; copy < copies; ++copy) *out(copy, i) = x;
  }
}

template <class T>
inline __attribute__((always_inline)) void reduce(const void* const* inputs, int ranks,
                                                  void* const* outputs, int copies,
                                                  std::int64_t count, ReduceOp op) {
  switch (op) {
    case ReduceOp::SUM:
      return reduce<T, ReduceOp::SUM>(inputs, ranks, outputs, copies, count);
    case ReduceOp::PRODUCT:
      return reduce<T, ReduceOp::PRODUCT>(inputs, ranks, outputs, copies, count);
    case ReduceOp::MAX:
      return reduce<T, ReduceOp::MAX>(inputs, ranks, outputs, copies, count);
    case ReduceOp::MIN:
      return reduce<T, ReduceOp::MIN>(inputs, ranks, outputs, copies, count);
    case ReduceOp::AVG:
      return reduce<T, ReduceOp::AVG>(inputs, ranks, outputs, copies, count);
  }
}

RANKBOX_FOR_EACH_CPU void reduce_float32(const void* const* inputs, int ranks, void* const* outputs,
                                         int copies, std::int64_t count, ReduceOp op) {
  reduce<float>(inputs, ranks, outputs, copies, count, op);
}
RANKBOX_FOR_EACH_CPU void reduce_float64(const void* const* inputs, int ranks, void* const* outputs,
                                         int copies, std::int64_t count, ReduceOp op) {
  reduce<double>(inputs, ranks, outputs, copies, count, op);
}
RANKBOX_FOR_EACH_CPU void reduce_int32(const void* const* inputs, int ranks, void* const* outputs,
                                       int copies, std::int64_t count, ReduceOp op) {
  reduce<std::int32_t>(inputs, ranks, outputs, copies, count, op);
}
RANKBOX_FOR_EACH_CPU void reduce_int64(const void* const* inputs, int ranks, void* const* outputs,
                                       int copies, std::int64_t count, ReduceOp op) {
  reduce<std::int64_t>(inputs, ranks, outputs, copies, count, op);
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
      return reduce_float32(inputs, ranks, outputs, copies, count, op);
    case DType::kFloat64:
      return reduce_float64(inputs, ranks, outputs, copies, count, op);
    case DType::kInt32:
      return reduce_int32(inputs, ranks, outputs, copies, count, op);
    case DType::kInt64:
      return reduce_int64(inputs, ranks, outputs, copies, count, op);
    case DType::kFloat16:
      return reduce_rounding<Float16>(inputs, ranks, outputs, copies, count, op);
    case DType::kBFloat16:
      return reduce_rounding<BFloat16>(inputs, ranks, outputs, copies, count, op);
  }
}

}  // namespace rankbox::sim
