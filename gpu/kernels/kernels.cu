#include <array>
#include <cstring>

#include "comm/errors.h"
#include "gpu/kernels/kernel_math.cuh"
#include "gpu/kernels/kernel_sweep.cuh"
#include "gpu/kernels/kernels.h"

namespace rankbox::gpu {
namespace {

using Kind = SmallOperation::Kind;

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
    with_op(op_on_bytes(op, dtype), [&](auto op_type) {
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

template <class T, Kind kind>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce)
    change_kernel(T* into, Cut cut, Wide<T> by) {
  using Target = Pack<T, kLanes<T>>;
  auto* const targets = reinterpret_cast<Target*>(into + cut.head);
  for_each_pack<kPacks>(cut.packs, [=](auto at_once, std::int64_t first) {
    constexpr int kAtOnce = decltype(at_once)::kPacks;
    Target x[kAtOnce];
    if constexpr (kind != Kind::kFill) {
      for (int p = 0; p < kAtOnce; ++p) x[p] = targets[first + p * kThreads];
    }
    for (int p = 0; p < kAtOnce; ++p) {
      for (T& lane : x[p].lane) lane = changed<kind>(lane, by);
      targets[first + p * kThreads] = x[p];
    }
  });
  for_each_edge<T>(cut, [=](std::int64_t i) { into[i] = changed<kind>(into[i], by); });
}

void change(Kind kind, void* into, std::int64_t count, DType dtype, std::uint64_t value,
            cudaStream_t stream) {
  with_device_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    const Cut cut = cut_at<T>(into, count);
    Wide<T> by;
    std::memcpy(&by, &value, sizeof by);
    const bool fills = kind == Kind::kFill;
    const bool scales = kind == Kind::kScale;
    const Doing doing{.op = fills ? "full" : scales ? "*=" : "/=", .bytes = count * size_of(dtype)};
    launch(doing, tiles_of(cut.packs, kPacks), stream,
           fills    ? change_kernel<T, Kind::kFill>
           : scales ? change_kernel<T, Kind::kScale>
                    : change_kernel<T, Kind::kDivide>,
           static_cast<T*>(into), cut, by);
  });
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

void launch_change(Kind kind, void* into, std::int64_t count, DType dtype, std::uint64_t value,
                   cudaStream_t stream) {
  if (count > 0) change(kind, into, count, dtype, value, stream);
}

void warm_kernels(cudaStream_t stream) {
  for (const DType dtype : kDTypes) {
    for (const ReduceOp op : kReduceOps) {
      for (const bool aligned : {true, false})
        accumulate(nullptr, nullptr, 0, aligned, dtype, op, stream);
    }
    for (const Kind kind : {Kind::kFill, Kind::kScale, Kind::kDivide})
      change(kind, nullptr, 0, dtype, 0, stream);
  }
  warm_reduce_to_all(stream);
  launch_small_operations({}, stream);
}

}  // namespace rankbox::gpu
