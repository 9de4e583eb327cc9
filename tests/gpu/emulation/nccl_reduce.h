// The arithmetic of the emulated NCCL: one reduction over the ranks' arrays, in the order of the
// ranks.
#pragma once

#include <cstddef>
#include <vector>

#include <nccl.h>

namespace rankbox::gpu::emulation {

/// Bytes of one element; 0 for a type that there is not.
std::size_t element_bytes(ncclDataType_t dtype);

/// out[i] = inputs[0][i] op inputs[1][i] op …. Integers wrap around. As in the real library,
/// ncclAvg of floating-point numbers multiplies each by 1/n before it adds, and of integers divides
/// the sum. REQUIRES: `out` overlaps none of the inputs; `op` and `dtype` exist.
void reduce_arrays(const std::vector<const void*>& inputs, void* out, std::size_t count,
                   ncclDataType_t dtype, ncclRedOp_t op);

}  // namespace rankbox::gpu::emulation
