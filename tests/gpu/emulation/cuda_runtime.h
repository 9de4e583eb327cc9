// The part of CUDA C++ that Rankbox's kernels use, as plain C++: emulated like cuda_runtime_api.h.
// A kernel is an ordinary function here. A launch enqueues a loop over its blocks and threads on
// the stream, so the index arithmetic is that of real GPUs.
//
// The threads of a block run one after the other: no __syncthreads, no shared memory, no shuffles.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "tests/gpu/emulation/cuda_kernel.h"

// NOLINTBEGIN: the names are NVIDIA's.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__

struct alignas(16) uint4 {
  unsigned int x, y, z, w;
};

struct cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
} cudaLaunchConfig_t;

/// Checks addresses among the arguments, and those that a lambda has captured: a kernel that
/// receives host memory breaks the device with cudaErrorIllegalAddress. (Clang 15 cannot tell an
/// object's members from its padding: there only plain pointers are checked.)
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  std::tuple<std::remove_cv_t<Parameters>...> copies(std::forward<Arguments>(arguments)...);
  std::vector<const void*> pointers;
  const auto note = [&pointers](const auto& argument) {
    using Argument = std::remove_cvref_t<decltype(argument)>;
    if constexpr (std::is_pointer_v<Argument>) {
      pointers.push_back(argument);
    } else if constexpr (std::is_class_v<Argument>) {
      static_assert(std::is_trivially_copy_constructible_v<Argument> &&
                        std::is_trivially_destructible_v<Argument>,
                    "a kernel takes its arguments as bytes");
#if __has_builtin(__builtin_clear_padding)
      Argument bytes = argument;
      __builtin_clear_padding(&bytes);
      rankbox::gpu::emulation::note_addresses(&bytes, sizeof bytes, pointers);
#endif
    }
  };
  std::apply([&](const auto&... each) { (note(each), ...); }, copies);
  return rankbox::gpu::emulation::launch(reinterpret_cast<const void*>(kernel), config->gridDim,
                                         config->blockDim, config->stream, std::move(pointers),
                                         [kernel, copies] { std::apply(kernel, copies); });
}
// NOLINTEND
