#include <array>
#include <type_traits>

#include "comm/errors.h"
#include "gpu/kernels/kernel_math.cuh"
#include "gpu/kernels/kernel_sweep.cuh"
#include "gpu/kernels/kernel_warm.h"
#include "gpu/kernels/kernels.h"

namespace rankbox::gpu {
namespace {

// Packs that a thread has in flight.
constexpr int kPacks = 4;

// ---- accumulate ------------------------------------------------------------------------------

/// @tparam lanes elements per load from `from`: kLanes<T> if both pointers have the same distance
///               from a 16-byte boundary, else 1. Loads then take more instructions but no more
///               memory traffic: a warp's next load hits the cache line.
template <class T, ReduceOp op, int lanes>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce)
    accumulate_kernel(T* into, const T* from, Cut cut) {
  using Target = Pack<T, kLanes<T>>;
  using Source = Pack<T, lanes>;
  constexpr int kSources = kLanes<T> / lanes;  // per Target
  auto* const targets = reinterpret_cast<Target*>(into + cut.head);
  const auto* const sources = reinterpret_cast<const Source*>(from + cut.head);

  for_each_pack<kPacks>(cut.packs, [=](auto at_once, std::int64_t first) {
    constexpr int kAtOnce = decltype(at_once)::kPacks;
    Target x[kAtOnce];
    Source y[kAtOnce][kSources];
    for (int p = 0; p < kAtOnce; ++p) {
      const std::int64_t pack = first + p * kThreads;
      x[p] = targets[pack];
      for (int s = 0; s < kSources; ++s) y[p][s] = sources[pack * kSources + s];
    }
    for (int p = 0; p < kAtOnce; ++p) {
      for (int lane = 0; lane < kLanes<T>; ++lane) {
        x[p].lane[lane] = combined<op>(x[p].lane[lane], y[p][lane / lanes].lane[lane % lanes]);
      }
      targets[first + p * kThreads] = x[p];
    }
  });
  for_each_edge<T>(cut, [=](std::int64_t i) { into[i] = combined<op>(into[i], from[i]); });
}

/// @param aligned whether both pointers have the same distance from a 16-byte boundary
void accumulate(void* into, const void* from, std::int64_t count, bool aligned, DType dtype,
                ReduceOp op, cudaStream_t stream) {
  with_device_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    with_op(op, [&](auto op_type) {
      constexpr ReduceOp kOp = decltype(op_type)::value;
      const Cut cut = cut_at<T>(into, count);
      const Doing doing{.op = "accumulate", .bytes = count * size_of(dtype)};
      launch(doing, tiles_of(cut.packs, kPacks), stream,
             aligned ? accumulate_kernel<T, kOp, kLanes<T>> : accumulate_kernel<T, kOp, 1>,
             static_cast<T*>(into), static_cast<const T*>(from), cut);
    });
  });
}

// ---- fill, scale, divide ---------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce) fill_kernel(T* into, Cut cut, T value) {
  using Target = Pack<T, kLanes<T>>;
  auto* const targets = reinterpret_cast<Target*>(into + cut.head);
  Target all;
  for (T& lane : all.lane) lane = value;
  for_each_pack<kPacks>(cut.packs, [=](auto at_once, std::int64_t first) {
    constexpr int kAtOnce = decltype(at_once)::kPacks;
    for (int p = 0; p < kAtOnce; ++p) targets[first + p * kThreads] = all;
  });
  for_each_edge<T>(cut, [=](std::int64_t i) { into[i] = value; });
}

struct Scale {
  template <class W>
  __device__ __forceinline__ W operator()(W x, W factor) const {
    return product(x, factor);
  }
};

struct Divide {
  template <class W>
  __device__ __forceinline__ W operator()(W x, W divisor) const {
    return x / divisor;
  }
};

/// Computes x = change(x, by) for every element.
template <class T, class Change>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce)
    change_kernel(T* into, Cut cut, Wide<T> by, Change change) {
  using Target = Pack<T, kLanes<T>>;
  auto* const targets = reinterpret_cast<Target*>(into + cut.head);
  const auto changed = [=](T x) { return narrowed<T>(change(widened(x), by)); };
  for_each_pack<kPacks>(cut.packs, [=](auto at_once, std::int64_t first) {
    constexpr int kAtOnce = decltype(at_once)::kPacks;
    Target x[kAtOnce];
    for (int p = 0; p < kAtOnce; ++p) x[p] = targets[first + p * kThreads];
    for (int p = 0; p < kAtOnce; ++p) {
      for (T& lane : x[p].lane) lane = changed(lane);
      targets[first + p * kThreads] = x[p];
    }
  });
  for_each_edge<T>(cut, [=](std::int64_t i) { into[i] = changed(into[i]); });
}

template <class Scalar>
void fill(void* into, std::int64_t count, DType dtype, Scalar value, cudaStream_t stream) {
  with_type(dtype, [&](auto zero) {
    using T = OnDevice<decltype(zero)>;
    const Cut cut = cut_at<T>(into, count);
    const Doing doing{.op = "full", .bytes = count * size_of(dtype)};
    launch(doing, tiles_of(cut.packs, kPacks), stream, fill_kernel<T>, static_cast<T*>(into), cut,
           as_device<T, decltype(zero)>(value));
  });
}

template <class Change, class Scalar>
void change(const char* op, void* into, std::int64_t count, DType dtype, Scalar by,
            cudaStream_t stream) {
  with_type(dtype, [&](auto zero) {
    using T = OnDevice<decltype(zero)>;
    const Cut cut = cut_at<T>(into, count);
    const Doing doing{.op = op, .bytes = count * size_of(dtype)};
    launch(doing, tiles_of(cut.packs, kPacks), stream, change_kernel<T, Change>,
           static_cast<T*>(into), cut, as_device<Wide<T>, decltype(zero)>(by), Change());
  });
}

template <class Scalar>
void divide(void* into, std::int64_t count, DType dtype, Scalar divisor, cudaStream_t stream) {
  if (count == 0) return;
  // The smallest integer has no opposite; the result of multiplying is defined.
  if (is_integer(dtype) && divisor == Scalar{-1}) {
    return change<Scale>("/=", into, count, dtype, divisor, stream);
  }
  change<Divide>("/=", into, count, dtype, divisor, stream);
}

}  // namespace

int multiprocessors() {
  constexpr std::size_t kMostDevices = 256;
  static std::array<std::atomic<int>, kMostDevices> known{};  // 0: not queried yet
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  std::atomic<int>& count = known.at(static_cast<std::size_t>(device));
  if (count == 0) {
    int asked = 0;
    check(cudaDeviceGetAttribute(&asked, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    count = asked;
  }
  return count;
}

void launch_accumulate(void* into, const void* from, std::int64_t count, DType dtype, ReduceOp op,
                       cudaStream_t stream) {
  if (count == 0) return;
  const bool aligned = beyond_boundary(into) == beyond_boundary(from);
  accumulate(into, from, count, aligned, dtype, op, stream);
}

void launch_fill(void* into, std::int64_t count, DType dtype, double value, cudaStream_t stream) {
  if (count > 0) fill(into, count, dtype, value, stream);
}
void launch_fill(void* into, std::int64_t count, DType dtype, std::int64_t value,
                 cudaStream_t stream) {
  if (count > 0) fill(into, count, dtype, value, stream);
}

void launch_scale(void* into, std::int64_t count, DType dtype, double factor, cudaStream_t stream) {
  if (count > 0) change<Scale>("*=", into, count, dtype, factor, stream);
}
void launch_scale(void* into, std::int64_t count, DType dtype, std::int64_t factor,
                  cudaStream_t stream) {
  if (count > 0) change<Scale>("*=", into, count, dtype, factor, stream);
}

void launch_divide(void* into, std::int64_t count, DType dtype, double divisor,
                   cudaStream_t stream) {
  divide(into, count, dtype, divisor, stream);
}
void launch_divide(void* into, std::int64_t count, DType dtype, std::int64_t divisor,
                   cudaStream_t stream) {
  divide(into, count, dtype, divisor, stream);
}

void warm_kernels(cudaStream_t stream) {
  for (const DType dtype : kDTypes) {
    for (const ReduceOp op : kReduceOps) {
      for (const bool aligned : {true, false})
        accumulate(nullptr, nullptr, 0, aligned, dtype, op, stream);
    }
    fill(nullptr, 0, dtype, 0.0, stream);
    change<Scale>("*=", nullptr, 0, dtype, 1.0, stream);
    change<Divide>("/=", nullptr, 0, dtype, 1.0, stream);
  }
  warm_reduce_to_all(stream);
  launch_small_operations({}, stream);
}

}  // namespace rankbox::gpu
