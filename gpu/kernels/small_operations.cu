// Many small operations in one kernel of one block, in place of a launch for each.
#include <algorithm>
#include <cstring>
#include <string>

#include "comm/errors.h"
#include "gpu/kernels/kernel_math.cuh"
#include "gpu/kernels/kernels.h"
#include "gpu/kernels/launch.cuh"

namespace rankbox::gpu {
namespace {

constexpr int kBlock = 1024;  // threads
constexpr int kAtOnce = 4;    // elements that a thread loads before it stores the first

/// A kernel argument.
struct SmallOperations {
  SmallOperation list[kMostSmallOperations];
  int count = 0;
};

/// into[i] = f(into[i], from[i]) by `threads` threads, of which this is the one at `index`. What f
/// does not use need not be there.
template <bool reads_into, bool reads_from, class T, class F>
__device__ void sweep(T* into, const T* from, int count, int index, int threads, F f) {
  for (int first = index; first < count; first += kAtOnce * threads) {
    T x[kAtOnce] = {};
    T y[kAtOnce] = {};
    for (int k = 0; k < kAtOnce; ++k) {
      const int i = first + k * threads;
      if (i >= count) break;
      if constexpr (reads_into) x[k] = into[i];
      if constexpr (reads_from) y[k] = from[i];
    }
    for (int k = 0; k < kAtOnce; ++k) {
      const int i = first + k * threads;
      if (i < count) into[i] = f(x[k], y[k]);
    }
  }
}

template <class T>
__device__ void copy_as(const SmallOperation& operation, int index, int threads) {
  sweep<false, true>(static_cast<T*>(operation.into), static_cast<const T*>(operation.from),
                     operation.count / static_cast<int>(sizeof(T)), index, threads,
                     [](const T&, const T& y) { return y; });
}

__device__ void copy(const SmallOperation& operation, int index, int threads) {
  const auto bits = reinterpret_cast<std::uintptr_t>(operation.into) |
                    reinterpret_cast<std::uintptr_t>(operation.from) |
                    static_cast<std::uintptr_t>(operation.count);
  if (bits % sizeof(uint4) == 0) return copy_as<uint4>(operation, index, threads);
  if (bits % sizeof(std::uint32_t) == 0) return copy_as<std::uint32_t>(operation, index, threads);
  if (bits % sizeof(std::uint16_t) == 0) return copy_as<std::uint16_t>(operation, index, threads);
  copy_as<std::uint8_t>(operation, index, threads);
}

template <class T>
__device__ void accumulate(const SmallOperation& operation, int index, int threads) {
  with_op(op_on_bytes(operation.op, operation.dtype), [&](auto op) {
    sweep<true, true>(static_cast<T*>(operation.into), static_cast<const T*>(operation.from),
                      operation.count, index, threads,
                      [](T x, T y) { return combined<decltype(op)::value>(x, y); });
  });
}

template <SmallOperation::Kind kind, class T>
__device__ void change(const SmallOperation& operation, int index, int threads) {
  Wide<T> by;
  memcpy(&by, &operation.value, sizeof by);
  sweep<kind != SmallOperation::Kind::kFill, false>(
      static_cast<T*>(operation.into), static_cast<const T*>(nullptr), operation.count, index,
      threads, [=](T x, T) { return changed<kind>(x, by); });
}

template <class T>
__device__ void compute(const SmallOperation& operation, int index, int threads) {
  switch (operation.kind) {
    case SmallOperation::Kind::kFill:
      return change<SmallOperation::Kind::kFill, T>(operation, index, threads);
    case SmallOperation::Kind::kScale:
      return change<SmallOperation::Kind::kScale, T>(operation, index, threads);
    case SmallOperation::Kind::kDivide:
      return change<SmallOperation::Kind::kDivide, T>(operation, index, threads);
    default:
      return accumulate<T>(operation, index, threads);
  }
}

__device__ void execute(const SmallOperation& operation, int index, int threads) {
  if (operation.kind == SmallOperation::Kind::kCopy) return copy(operation, index, threads);
  with_device_type(operation.dtype,
                   [&](auto zero) { compute<decltype(zero)>(operation, index, threads); });
}

/// One thread's share of list[begin], …, list[end - 1]: each operation has as many threads.
__device__ void execute_level(const SmallOperation* list, int begin, int end, int thread) {
  const int threads = kBlock / (end - begin);
  const int mine = begin + thread / threads;
  if (mine < end) execute(list[mine], thread % threads, threads);
}

__global__ void __launch_bounds__(kBlock)
    small_operations_kernel(const __grid_constant__ SmallOperations all) {
  for (int begin = 0, end = 0; begin < all.count; begin = end) {
    while (end < all.count && all.list[end].level == all.list[begin].level) ++end;
#ifdef RANKBOX_EMULATED_CUDA
    // The emulation has no barrier: its only thread does the work of all.
    for (int thread = 0; thread < kBlock; ++thread) execute_level(all.list, begin, end, thread);
#else
    execute_level(all.list, begin, end, static_cast<int>(threadIdx.x));
    __syncthreads();
#endif
  }
}

template <class Scalar>
std::uint64_t bits_of(DType dtype, Scalar value) {
  std::uint64_t bits = 0;
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto by = static_cast<Wide<OnDevice<T>>>(static_cast<T>(value));
    std::memcpy(&bits, &by, sizeof by);
  });
  return bits;
}

}  // namespace

void launch_small_operations(std::span<const SmallOperation> by_level, cudaStream_t stream) {
  if (by_level.size() > kMostSmallOperations) {
    throw InvalidArgument(std::to_string(by_level.size()) + " small operations; at most " +
                          std::to_string(kMostSmallOperations) + " are possible");
  }
  SmallOperations all;
  std::copy(by_level.begin(), by_level.end(), all.list);
  all.count = static_cast<int>(by_level.size());
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
#ifdef RANKBOX_EMULATED_CUDA
  config.blockDim = dim3(1);
#else
  config.blockDim = dim3(kBlock);
#endif
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, small_operations_kernel, all), "cudaLaunchKernelEx",
        {.op = "small operations"});
}

std::uint64_t small_value(DType dtype, double value) { return bits_of(dtype, value); }
std::uint64_t small_value(DType dtype, std::int64_t value) { return bits_of(dtype, value); }

}  // namespace rankbox::gpu
