// for_each of compute/for_each.h as a kernel on the rank's stream.
//
// It has another name: the type of an nvcc lambda contains the signature of the function around it.
// If that has a Comm, an unqualified call is looked up in this namespace, too.
#pragma once

#include <cstdint>

#include "gpu/device_here.h"

#if defined(__CUDACC__) || defined(RANKBOX_EMULATED_CUDA)

#include "gpu/kernels/launch.cuh"

namespace rankbox::gpu {

/// Neighbouring threads have neighbouring elements, so that a warp reads whole lines of memory. 32
/// elements from a multiple of 32 on belong to one warp, as for_each_row (Lanes) requires.
template <class F>
__global__ void __launch_bounds__(kThreads) for_each_kernel(std::int64_t n, F f) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (; i < n; i += step) f(i);
}

template <class F>
void enqueue_for_each(std::int64_t n, F f) {
  if (n == 0) return;
  constexpr Doing kDoing{.op = "for_each"};
  RankDevice& gpu = device_here();
  gpu.before_work(kDoing);
  launch(kDoing, (n + kThreads - 1) / kThreads, gpu.stream(), for_each_kernel<F>, n, f);
  settle_here(kDoing);
}

}  // namespace rankbox::gpu

#else

namespace rankbox::gpu {

template <class F>
void enqueue_for_each(std::int64_t, F) {
  static_assert(sizeof(F) == 0,
                "nvcc compiles what calls for_each: list it in srcs of a portable_library");
}

}  // namespace rankbox::gpu

#endif
