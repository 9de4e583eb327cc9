// NCCL's constants for our types and operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nccl.h>

#include "comm/dtype.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"

namespace rankbox::gpu {

constexpr ncclDataType_t nccl_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return ncclFloat32;
    case DType::kFloat64:
      return ncclFloat64;
    case DType::kInt32:
      return ncclInt32;
    case DType::kInt64:
      return ncclInt64;
    case DType::kFloat16:
      return ncclFloat16;
    case DType::kBFloat16:
      return ncclBfloat16;
    case DType::kUInt8:
    case DType::kBool:
      return ncclUint8;
  }
  return ncclFloat32;
}

/// AVG is a sum here, divided afterwards. ncclAvg would multiply every number by 1/p before it
/// adds, which rounds differently: the average of 1, 2 and 3 on three ranks would not be exactly 2.
constexpr ncclRedOp_t nccl_op(ReduceOp op, DType dtype) {
  switch (op_on_bytes(op, dtype)) {
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      return ncclSum;
    case ReduceOp::PRODUCT:
      return ncclProd;
    case ReduceOp::MAX:
      return ncclMax;
    case ReduceOp::MIN:
      return ncclMin;
  }
  return ncclSum;
}

inline std::size_t nccl_count(Slice slice) { return static_cast<std::size_t>(slice.size()); }

}  // namespace rankbox::gpu
