#include "mpi/datatype.h"

#include <climits>

#include <fmt/format.h>

#include "comm/slice.h"
#include "host/arithmetic.h"
#include "mpi/check.h"

namespace rankbox::mpi {
namespace {

MPI_Datatype make_float16() {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(2, MPI_BYTE, &made), "MPI_Type_contiguous");
  check(MPI_Type_commit(&made), "MPI_Type_commit");
  return made;
}

/// An MPI_User_function: into = from op into.
template <ReduceOp op>
void reduce_float16(void* from, void* into, int* count,  // NOLINT(readability-non-const-parameter)
                    MPI_Datatype*) {
  const Slice source(from, *count, DType::kFloat16, true, 0);
  const Slice target(into, *count, DType::kFloat16, false, 0);
  host::reduce(target, source, op);
}

template <ReduceOp op>
MPI_Op float16_op() {
  static const MPI_Op made = [] {
    MPI_Op handle = MPI_OP_NULL;
    check(MPI_Op_create(reduce_float16<op>, /*commute=*/1, &handle), "MPI_Op_create");
    return handle;
  }();
  return made;
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
    case DType::kFloat16:
      break;
  }
  static const MPI_Datatype float16 = make_float16();
  return float16;
}

MPI_Op op_of(ReduceOp op, DType dtype) {
  const bool named = dtype != DType::kFloat16;
  switch (op) {
    case ReduceOp::PRODUCT:
      return named ? MPI_PROD : float16_op<ReduceOp::PRODUCT>();
    case ReduceOp::MAX:
      return named ? MPI_MAX : float16_op<ReduceOp::MAX>();
    case ReduceOp::MIN:
      return named ? MPI_MIN : float16_op<ReduceOp::MIN>();
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      break;
  }
  return named ? MPI_SUM : float16_op<ReduceOp::SUM>();
}

void check_count(const Caller& caller, Slice slice) {
  if (slice.size() > INT_MAX) [[unlikely]] {
    refuse(caller, fmt::format("{} elements are too many for one MPI call, which counts up to {}; "
                               "send chunks",
                               slice.size(), INT_MAX));
  }
}

}  // namespace rankbox::mpi
