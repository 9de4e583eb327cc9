// Launching kernels, with as many blocks as fill the device.
#pragma once

#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>

#include "gpu/device/check.h"

namespace rankbox::gpu {

inline constexpr int kThreads = 256;  // per block

/// Returns the current device's multiprocessor count. Queries each device once.
int multiprocessors();

/// Launches a kernel with one block per tile, capped at a block count that fills the device many
/// times over; at least one block.
/// @param tiles rounded up
template <class... Parameters, class... Arguments>
void launch(const Doing& doing, std::int64_t tiles, cudaStream_t stream,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  constexpr std::int64_t kBlocksPerMultiprocessor = 64;
  const std::int64_t most = kBlocksPerMultiprocessor * multiprocessors();
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(std::clamp<std::int64_t>(tiles, 1, most)));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "cudaLaunchKernelEx", doing);
}

}  // namespace rankbox::gpu
