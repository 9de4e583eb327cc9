// The arithmetic of tensors on a GPU: small kernels that read and write 16 bytes at a time.
//
// All pointers are device memory, aligned to their elements; chunks may start anywhere, so nothing
// more is asked for, and vectors start where the target's 16-byte grid does. Counts are elements;
// with 0 nothing is launched. Everything is asynchronous: REQUIRES that the arguments stay valid
// until the stream has come that far.
//
// Results are those of the sandbox, bit by bit: integers that overflow wrap around, integers are
// divided towards zero, MAX and MIN keep a if a > b (a < b) and b otherwise, and AVG adds.
//
// Cost: bound by memory. Per element, accumulate reads twice and writes once, fill writes once,
// scale and divide read and write once, reduce_to_all reads once per input and writes once per
// output.
//
// Thread safety: any thread, for streams of the device that is current on it. Errors: CudaError.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "comm/dtype.h"
#include "comm/reduce_op.h"

namespace rankbox::gpu {

/// into[i] = into[i] op from[i].
/// REQUIRES: the two are the same, or do not overlap.
void launch_accumulate(void* into, const void* from, std::int64_t count, DType dtype, ReduceOp op,
                       cudaStream_t stream);

/// into[i] = value, converted to dtype as a C++ cast would.
void launch_fill(void* into, std::int64_t count, DType dtype, double value, cudaStream_t stream);
void launch_fill(void* into, std::int64_t count, DType dtype, std::int64_t value,
                 cudaStream_t stream);

/// into[i] *= factor, with factor converted to dtype first.
void launch_scale(void* into, std::int64_t count, DType dtype, double factor, cudaStream_t stream);
void launch_scale(void* into, std::int64_t count, DType dtype, std::int64_t factor,
                  cudaStream_t stream);

/// into[i] /= divisor, with divisor converted to dtype first.
/// REQUIRES: an integer type's divisor is not 0.
void launch_divide(void* into, std::int64_t count, DType dtype, double divisor,
                   cudaStream_t stream);
void launch_divide(void* into, std::int64_t count, DType dtype, std::int64_t divisor,
                   cudaStream_t stream);

/// As many pointers as launch_reduce_to_all takes on either side: they travel with the launch.
inline constexpr int kMostPointers = 64;

/// For every i: x = inputs[0][i] op inputs[1][i] op …, in that order; divided by `divide_by` if op
/// is AVG; then outputs[k][i] = x for every k. What NCCL's collectives would do, for ranks that
/// share one GPU: every input is read once, every output written once.
///
/// The arrays of pointers are read before this returns. An output may be an input, at the same
/// place; any other overlap is undefined. Throws InvalidArgument unless
/// 1 <= input_count, output_count <= kMostPointers and divide_by >= 1.
void launch_reduce_to_all(const void* const* inputs, int input_count, void* const* outputs,
                          int output_count, std::int64_t count, DType dtype, ReduceOp op,
                          int divide_by, cudaStream_t stream);

/// Launches every kernel once without elements. A kernel's code is loaded at its first launch, and
/// loading waits for the GPU to drain: in the middle of a collective that would be a deadlock.
void warm_kernels(cudaStream_t stream);

}  // namespace rankbox::gpu
