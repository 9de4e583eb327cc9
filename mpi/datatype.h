// Element types and operations in MPI's terms.
#pragma once

#include <mpi.h>

#include "comm/dtype.h"
#include "comm/reduce_op.h"

namespace rankbox::mpi {

/// float16 has no name in MPI: two bytes, with operations of our own. Made on first use, and kept.
MPI_Datatype datatype_of(DType dtype);

/// AVG is SUM: whoever gets the result divides it, once.
MPI_Op op_of(ReduceOp op, DType dtype);

/// MPI counts in ints. Throws InvalidArgument for more elements than that.
int count_of(std::int64_t elements);

}  // namespace rankbox::mpi
