// Element types and operations in MPI's terms.
#pragma once

#include <mpi.h>

#include "comm/call_checks.h"
#include "comm/dtype.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"

namespace rankbox::mpi {

/// MPI has no 16-bit floats: they are two bytes, with custom operations. Created on first use, and
/// kept.
MPI_Datatype datatype_of(DType dtype);

/// Returns SUM for AVG: the rank that receives the result divides it, once.
MPI_Op op_of(ReduceOp op, DType dtype);

/// Throws InvalidArgument for a slice with more elements than an int can count, as MPI requires.
void check_count(const Caller& caller, Slice slice);

/// REQUIRES: check_count() has accepted the slice.
constexpr int count_of(std::int64_t elements) { return static_cast<int>(elements); }

}  // namespace rankbox::mpi
