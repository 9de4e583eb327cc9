// Kernel execution in the emulated runtime.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <cuda_runtime_api.h>

// NOLINTBEGIN: the names are NVIDIA's.
struct uint3 {
  unsigned int x, y, z;
};

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
};

// Indices of the kernel thread that this thread runs at present.
inline thread_local constinit uint3 threadIdx{0, 0, 0};
inline thread_local constinit uint3 blockIdx{0, 0, 0};
inline thread_local constinit dim3 blockDim{};
inline thread_local constinit dim3 gridDim{};
// NOLINTEND

namespace rankbox::gpu::emulation {

/// @param kernel its address, for what a first launch does
/// @param one_thread the work of each thread; reads the indices above
cudaError_t launch(const void* kernel, dim3 grid, dim3 block, cudaStream_t handle,
                   std::vector<const void*> pointers, std::function<void()> one_thread);

/// Adds the words of an object that are addresses of this process's memory.
void note_addresses(const void* object, std::size_t bytes, std::vector<const void*>& pointers);

}  // namespace rankbox::gpu::emulation
