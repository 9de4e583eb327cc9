// Tensor arithmetic on a GPU: small kernels that read and write 16 bytes at a time.
//
// All pointers are device memory, aligned to their elements. Chunks may start anywhere, so no
// larger alignment is required; vectors start at the target's 16-byte boundaries. Counts are in
// elements; a count of 0 launches nothing. Every call is asynchronous. REQUIRES: the arguments stay
// valid until the stream has executed the call.
//
// Results equal the sandbox's, bit by bit: integers that overflow wrap around, and integer division
// rounds towards zero. MAX and MIN keep a if a > b (a < b) and b otherwise; AVG adds.
//
// Cost: bound by memory. Per element, accumulate reads twice and writes once; fill writes once;
// scale and divide read and write once. reduce_to_all reads once per input and writes once per
// output.
//
// Thread safety: any thread, for streams of the thread's current device. Errors: CudaError.
#pragma once

#include <cstdint>
#include <span>

#include <cuda_runtime_api.h>

#include "comm/dtype.h"
#include "comm/reduce_op.h"
#include "gpu/device/small_operation.h"

namespace rankbox::gpu {

/// into[i] = into[i] op from[i].
/// REQUIRES: the two are equal or do not overlap.
void launch_accumulate(void* into, const void* from, std::int64_t count, DType dtype, ReduceOp op,
                       cudaStream_t stream);

/// into[i] = value, *= value or /= value: kFill, kScale or kDivide.
/// @param value small_value(dtype, …); not 0, if it divides integers
void launch_change(SmallOperation::Kind kind, void* into, std::int64_t count, DType dtype,
                   std::uint64_t value, cudaStream_t stream);

/// Returns value, converted to dtype as a C++ cast would and then to the type to compute in, as
/// bits.
std::uint64_t small_value(DType dtype, double value);
std::uint64_t small_value(DType dtype, std::int64_t value);

/// Maximum pointer count on each side of launch_reduce_to_all: they are kernel arguments.
inline constexpr int kMostPointers = 64;

/// For every i: x = inputs[0][i] op inputs[1][i] op …, in that order, divided by `divide_by` if op
/// is AVG; then outputs[k][i] = x for every k. Does the work of NCCL's collectives for ranks that
/// share a GPU: reads every input once, and writes every output once.
///
/// The pointer arrays are read before this returns. An output may be an input, at the same place;
/// any other overlap is undefined. Throws InvalidArgument unless 1 <= input_count, output_count <=
/// kMostPointers and divide_by >= 1.
void launch_reduce_to_all(const void* const* inputs, int input_count, void* const* outputs,
                          int output_count, std::int64_t count, DType dtype, ReduceOp op,
                          int divide_by, cudaStream_t stream);

/// Executes the operations in one kernel of one block: those of a level at once, one level after
/// the other. REQUIRES: at most kMostSmallOperations, ordered by level.
void launch_small_operations(std::span<const SmallOperation> by_level, cudaStream_t stream);

/// Launches every kernel once with 0 elements. The first launch of a kernel loads its code, and
/// loading waits for the GPU to drain: within a collective that would be a deadlock.
void warm_kernels(cudaStream_t stream);
/// Its part in reduce_to_all.cu.
void warm_reduce_to_all(cudaStream_t stream);

}  // namespace rankbox::gpu
