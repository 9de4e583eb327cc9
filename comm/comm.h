// The communicator of the backend this build was configured for. The only place in
// the project that chooses.
//
// With the headers it includes, this is all an exercise needs: Comm, Request, Tensor, Slice,
// ReduceOp and the errors.
#pragma once

#include "comm/communicator.h"
#include "comm/errors.h"
#include "comm/tensor.h"

#if defined(RANKBOX_BACKEND_MPI) || defined(RANKBOX_BACKEND_NCCL)
#error "this backend is not part of Rankbox yet: build with --config=sim"
#else
#include "sim/communicator.h"
namespace rankbox {
using Comm = sim::Communicator;
}  // namespace rankbox
#endif

namespace rankbox {

static_assert(Communicator<Comm>);
using Request = Comm::Request;

}  // namespace rankbox
