// A copy or an element-wise operation so small that launching it takes longer than doing it.
//
// Ranks that share a GPU collect them (shared_stream.h), and one kernel executes many
// (launch_small_operations in gpu/kernels/kernels.h).
#pragma once

#include <cstdint>

#include "comm/dtype.h"
#include "comm/reduce_op.h"

namespace rankbox::gpu {

struct SmallOperation {
  enum class Kind : std::uint8_t { kCopy, kAccumulate, kFill, kScale, kDivide };

  void* into = nullptr;
  const void* from = nullptr;  // of a copy, or of what is accumulated
  std::int32_t count = 0;      // elements; bytes of a copy
  Kind kind = Kind::kCopy;
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::SUM;
  // Operations of the same level are independent of each other, and depend on lower levels only.
  std::uint8_t level = 0;
  std::uint64_t value = 0;  // the bits of what fills, scales or divides, in the type to compute in
};

// Estimates, of one block of threads: up to the first size it takes no longer for an operation than
// a launch (3 µs). Beyond the second sum, several blocks would be faster.
inline constexpr std::int64_t kMostSmallBytes = std::int64_t{32} << 10;
inline constexpr std::int64_t kMostCollectedBytes = std::int64_t{256} << 10;

/// How many a kernel takes: 2 KiB of the 4 KiB of its arguments.
inline constexpr int kMostSmallOperations = 64;
static_assert(sizeof(SmallOperation) == 32);

}  // namespace rankbox::gpu
