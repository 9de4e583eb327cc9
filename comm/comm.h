// The communicator of this build's backend. Only this file selects the backend.
//
// An exercise needs no other header. This one also provides Request, Tensor, Slice, ReduceOp and
// the errors.
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
