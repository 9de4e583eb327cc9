// MPI's own collectives, applied to the caller's memory.
#pragma once

#include <vector>

#include <mpi.h>

#include "comm/collective_call.h"
#include "mpi/group.h"

namespace rankbox::mpi {

/// The MPI arguments of a call. It must not move until the collective is done. No splits.
struct NativeCall {
  CollectiveCall call;
  const void* in = nullptr;  // or MPI_IN_PLACE
  void* out = nullptr;
  std::vector<int> send_counts;  // if the ranks' parts differ
  std::vector<int> send_begins;
  std::vector<int> recv_counts;
  std::vector<int> recv_begins;
  std::vector<char> piece;  // reduce_scatter in place: MPI would write it elsewhere
};

NativeCall native_call(const Group& group, const CollectiveCall& call);

/// Starts the collective. If `blocking`, it is done on return and the request is null. The
/// library's blocking calls are faster. With Open MPI 4.1 on one host, an all-reduce of 8 bytes
/// takes 0.13 µs instead of 0.55 µs, and one of 500 kB 86 µs instead of 256 µs.
MPI_Request begin_native(const Group& group, NativeCall& native, bool blocking,
                         const Caller& caller);

/// Completes the result: divides for AVG, and moves a piece to its place.
void end_native(const Group& group, const NativeCall& native);

}  // namespace rankbox::mpi
