// MPI's own collectives, for the calls of the contract.
#pragma once

#include <vector>

#include <mpi.h>

#include "comm/collective_call.h"
#include "mpi/group.h"

namespace rankbox::mpi {

/// A call in MPI's terms. It must stay where it is until the collective is done.
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

/// @param in, out memory in place of the call's slices, which tell its size
NativeCall native_call(const Group& group, const CollectiveCall& call, const void* in, void* out);

/// Begins it; blocks until the rank's part is done. Both throw MpiError. No splits.
MPI_Request start_native(const Group& group, NativeCall& native, const Caller& caller);
void run_native(const Group& group, NativeCall& native, const Caller& caller);

/// What is left to do for the result: AVG's division, and moving a piece to its place.
void end_native(const Group& group, NativeCall& native);

}  // namespace rankbox::mpi
