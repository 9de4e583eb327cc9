#include "mpi/datatype.h"

#include <climits>

#include <fmt/format.h>

#include "comm/slice.h"
#include "host/arithmetic.h"
#include "mpi/check.h"

namespace rankbox::mpi {
namespace {

MPI_Datatype make_two_bytes() {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(2, MPI_BYTE, &made), "MPI_Type_contiguous");
  check(MPI_Type_commit(&made), "MPI_Type_commit");
  return made;
}

/// MPI's signature: into = from op into.
template <ReduceOp op, DType dtype>
void reduce_by_host(void* from, void* into,
                    int* count,  // NOLINT(readability-non-const-parameter)
                    MPI_Datatype*) {
  const Slice source(from, *count, dtype, true, 0);
  const Slice target(into, *count, dtype, false, 0);
  host::reduce(target, source, op);
}

template <ReduceOp op, DType dtype>
MPI_Op host_op() {
  static const MPI_Op made = [] {
    MPI_Op handle = MPI_OP_NULL;
    check(MPI_Op_create(reduce_by_host<op, dtype>, /*commute=*/1, &handle), "MPI_Op_create");
    return handle;
  }();
  return made;
}

/// @param named MPI's own
template <ReduceOp op>
MPI_Op op_for(DType dtype, MPI_Op named) {
  if (dtype == DType::kFloat16) return host_op<op, DType::kFloat16>();
  if (dtype == DType::kBFloat16) return host_op<op, DType::kBFloat16>();
  // In runs of 16 bytes, Open MPI 4.1 stops at 255 where it should wrap around (op/avx).
  if (dtype == DType::kUInt8) return host_op<op, DType::kUInt8>();
  return named;
}

}  // namespace

MPI_Datatype datatype_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return MPI_FLOAT;
    case DType::kFloat64:
      return MPI_DOUBLE;
    case DType::kInt32:
      return MPI_INT32_T;
    case DType::kInt64:
      return MPI_INT64_T;
    case DType::kUInt8:
    case DType::kBool:
      return MPI_UINT8_T;
    case DType::kFloat16:
    case DType::kBFloat16:
      break;
  }
  static const MPI_Datatype two_bytes = make_two_bytes();
  return two_bytes;
}

MPI_Op op_of(ReduceOp op, DType dtype) {
  switch (op_on_bytes(op, dtype)) {
    case ReduceOp::PRODUCT:
      return op_for<ReduceOp::PRODUCT>(dtype, MPI_PROD);
    case ReduceOp::MAX:
      return op_for<ReduceOp::MAX>(dtype, MPI_MAX);
    case ReduceOp::MIN:
      return op_for<ReduceOp::MIN>(dtype, MPI_MIN);
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      break;
  }
  return op_for<ReduceOp::SUM>(dtype, MPI_SUM);
}

void check_count(const Caller& caller, Slice slice) {
  if (slice.size() > INT_MAX) [[unlikely]] {
    refuse(caller, fmt::format("{} elements are too many for one MPI call, which counts up to {}; "
                               "send chunks",
                               slice.size(), INT_MAX));
  }
}

}  // namespace rankbox::mpi
