// The arithmetic of the emulated NCCL: one reduction over the ranks' arrays, in rank order.
#pragma once

#include <cstddef>
#include <vector>

#include <nccl.h>

namespace rankbox::gpu::emulation {

/// Returns the bytes of one element; 0 for a type that Rankbox does not use.
std::size_t element_bytes(ncclDataType_t dtype);

/// out[i] = inputs[0][i] op inputs[1][i] op …. Integers wrap around. As in the real library,
/// ncclAvg multiplies each floating-point number by 1/n before it adds; for integers it divides the
/// sum. REQUIRES: `out` overlaps none of the inputs; `op` exists, and `dtype` is a DType's.
void reduce_arrays(const std::vector<const void*>& inputs, void* out, std::size_t count,
                   ncclDataType_t dtype, ncclRedOp_t op);

}  // namespace rankbox::gpu::emulation
