// The communicator of the backend that this build is configured for. Only this file chooses.
//
// With the headers that it includes, this is all an exercise needs: Comm, Request, Tensor, Slice,
// ReduceOp and the errors.
#pragma once

#include "comm/communicator.h"
#include "comm/errors.h"
#include "comm/tensor.h"

#if defined(RANKBOX_BACKEND_MPI)
#include "mpi/communicator.h"
namespace rankbox {
using Comm = mpi::Communicator;
}  // namespace rankbox
#elif defined(RANKBOX_BACKEND_NCCL)
#include "gpu/communicator.h"
namespace rankbox {
using Comm = gpu::Communicator;
}  // namespace rankbox
#else
#include "sim/communicator.h"
namespace rankbox {
using Comm = sim::Communicator;
}  // namespace rankbox
#endif

namespace rankbox {

using Request = Comm::Request;

}  // namespace rankbox
