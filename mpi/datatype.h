// Element types and operations in MPI's terms.
#pragma once

#include <mpi.h>

#include "comm/call_checks.h"
#include "comm/dtype.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"

namespace rankbox::mpi {

/// float16 has no name in MPI: two bytes, with operations of our own. Made on first use, and kept.
MPI_Datatype datatype_of(DType dtype);

/// AVG is SUM: the rank that receives the result divides it, once.
MPI_Op op_of(ReduceOp op, DType dtype);

/// MPI counts in ints. Throws InvalidArgument for a slice of more elements than that.
void check_count(const Caller& caller, Slice slice);

/// REQUIRES: check_count() let it pass.
constexpr int count_of(std::int64_t elements) { return static_cast<int>(elements); }

}  // namespace rankbox::mpi
