// MPI's own collectives, for the calls of the contract, on the caller's own memory.
#pragma once

#include <vector>

#include <mpi.h>

#include "comm/collective_call.h"
#include "mpi/group.h"

namespace rankbox::mpi {

/// A call in MPI's terms. It must not move until the collective is done. No splits.
struct NativeCall {
  CollectiveCall call;
  const void* in = nullptr;  // or MPI_IN_PLACE
  void* out = nullptr;
  std::vector<int> send_counts;  // where ranks' parts differ
  std::vector<int> send_begins;
  std::vector<int> recv_counts;
  std::vector<int> recv_begins;
  std::vector<char> piece;  // reduce_scatter in place: MPI would put it elsewhere
};

NativeCall native_call(const Group& group, const CollectiveCall& call);

/// Starts the collective; one that is `blocking` is done on return, and the request null. The
/// library's blocking calls are quicker: with Open MPI 4.1 on one host, an all-reduce of 8 bytes
/// takes 0.13 µs instead of 0.55, of 500 kB 86 µs instead of 256.
MPI_Request begin_native(const Group& group, NativeCall& native, bool blocking,
                         const Caller& caller);

/// What is left to do for the result: AVG's division, and moving a piece to its place.
void end_native(const Group& group, const NativeCall& native);

}  // namespace rankbox::mpi
