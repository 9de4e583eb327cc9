// The part of warm_kernels (kernels.h) that is not in kernels.cu.
#pragma once

#include <cuda_runtime_api.h>

namespace rankbox::gpu {

void warm_reduce_to_all(cudaStream_t stream);

}  // namespace rankbox::gpu
