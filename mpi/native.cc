#include "mpi/native.h"

#include <cstring>

#include "comm/ownership.h"
#include "host/arithmetic.h"
#include "mpi/check.h"
#include "mpi/datatype.h"

namespace rankbox::mpi {
namespace {

/// Fills the counts and begins of a slice's pieces.
void fill(Slice whole, std::span<const std::int64_t> sizes, int p, std::vector<int>& counts,
          std::vector<int>& begins) {
  Pieces pieces(whole, sizes, p);
  std::int64_t begin = 0;
  for (int i = 0; i < p; ++i) {
    const std::int64_t size = pieces.next().size();
    begins.push_back(count_of(begin));
    counts.push_back(count_of(size));
    begin += size;
  }
}

/// Returns whether the ranks' chunks of the result of an all_gather differ in size.
bool has_unequal_chunks(const CollectiveCall& call, int p) {
  return call.kind == CollectiveKind::kAllGather && call.count % p != 0;
}

bool has_result(const Group& group, const CollectiveCall& call) {
  return call.kind != CollectiveKind::kReduce || call.root == group.index;
}

bool has_nothing_to_move(const CollectiveCall& call) {
  return moves_data(call.kind) && call.count == 0;
}

}  // namespace

NativeCall native_call(const Group& group, const CollectiveCall& call) {
  NativeCall native{call, call.in.data(), call.out.data(), {}, {}, {}, {}, {}};
  const int p = group.size();
  const bool same = native.in == native.out && call.in.bytes() > 0;
  const bool shared = overlap(call.in, call.out);
  switch (call.kind) {
    case CollectiveKind::kReduce:
      if (same && group.index == call.root) native.in = MPI_IN_PLACE;
      if (group.index != call.root) native.out = nullptr;
      break;
    case CollectiveKind::kAllReduce:
      if (same) native.in = MPI_IN_PLACE;
      break;
    case CollectiveKind::kGather:
      if (shared) native.in = MPI_IN_PLACE;
      break;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllGatherV:
      if (shared) native.in = MPI_IN_PLACE;
      if (call.kind == CollectiveKind::kAllGatherV || has_unequal_chunks(call, p))
        fill(call.out, call.out_counts, p, native.recv_counts, native.recv_begins);
      break;
    case CollectiveKind::kGatherV:
      if (shared) native.in = MPI_IN_PLACE;
      if (group.index == call.root)
        fill(call.out, call.out_counts, p, native.recv_counts, native.recv_begins);
      break;
    case CollectiveKind::kScatter:
      if (shared) native.out = MPI_IN_PLACE;
      break;
    case CollectiveKind::kScatterV:
      if (shared) native.out = MPI_IN_PLACE;
      if (group.index == call.root)
        fill(call.in, call.in_counts, p, native.send_counts, native.send_begins);
      break;
    case CollectiveKind::kReduceScatter:
      fill(call.in, {}, p, native.recv_counts, native.recv_begins);
      // An empty output may start at the same address as the input, which MPICH treats as an error.
      if (call.out.bytes() == 0) native.out = nullptr;
      if (shared) {
        native.piece.resize(static_cast<std::size_t>(call.out.bytes()));
        native.out = native.piece.data();
      }
      break;
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kAllToAllV:
      fill(call.in, call.in_counts, p, native.send_counts, native.send_begins);
      fill(call.out, call.out_counts, p, native.recv_counts, native.recv_begins);
      break;
    default:
      break;
  }
  return native;
}

MPI_Request begin_native(const Group& group, NativeCall& native, bool blocking,
                         const Caller& caller) {
  const CollectiveCall& call = native.call;
  MPI_Request request = MPI_REQUEST_NULL;
  if (has_nothing_to_move(call)) return request;
  const MPI_Datatype type = datatype_of(call.dtype);
  const MPI_Op op = op_of(call.op, call.dtype);
  // Of one rank's slice; where pieces differ, of its piece.
  const int sent = count_of(call.in.size());
  const int received = count_of(call.out.size());
  const int root = call.root;
  const MPI_Comm comm = group.comm;
  const void* const in = native.in;
  void* const out = native.out;
  const int* const send_counts = native.send_counts.data();
  const int* const send_begins = native.send_begins.data();
  const int* const recv_counts = native.recv_counts.data();
  const int* const recv_begins = native.recv_begins.data();
  // Each blocking call has a non-blocking twin with the same arguments and a request.
  const auto run = [&](auto now, auto later, auto... arguments) {
    check(blocking ? now(arguments..., comm) : later(arguments..., comm, &request),
          "the native collective", &caller);
  };
  switch (call.kind) {
    case CollectiveKind::kBarrier:
      run(MPI_Barrier, MPI_Ibarrier);
      break;
    case CollectiveKind::kBroadcast:
      run(MPI_Bcast, MPI_Ibcast, out, sent, type, root);
      break;
    case CollectiveKind::kReduce:
      run(MPI_Reduce, MPI_Ireduce, in, out, sent, type, op, root);
      break;
    case CollectiveKind::kAllReduce:
      run(MPI_Allreduce, MPI_Iallreduce, in, out, sent, type, op);
      break;
    case CollectiveKind::kGather:
      run(MPI_Gather, MPI_Igather, in, sent, type, out, sent, type, root);
      break;
    case CollectiveKind::kGatherV:
      run(MPI_Gatherv, MPI_Igatherv, in, sent, type, out, recv_counts, recv_begins, type, root);
      break;
    case CollectiveKind::kAllGather:
      if (native.recv_counts.empty()) {
        run(MPI_Allgather, MPI_Iallgather, in, sent, type, out, sent, type);
        break;
      }
      [[fallthrough]];
    case CollectiveKind::kAllGatherV:
      run(MPI_Allgatherv, MPI_Iallgatherv, in, sent, type, out, recv_counts, recv_begins, type);
      break;
    case CollectiveKind::kScatter:
      run(MPI_Scatter, MPI_Iscatter, in, received, type, out, received, type, root);
      break;
    case CollectiveKind::kScatterV:
      run(MPI_Scatterv, MPI_Iscatterv, in, send_counts, send_begins, type, out, received, type,
          root);
      break;
    case CollectiveKind::kReduceScatter:
      run(MPI_Reduce_scatter, MPI_Ireduce_scatter, in, out, recv_counts, type, op);
      break;
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kAllToAllV:
      run(MPI_Alltoallv, MPI_Ialltoallv, in, send_counts, send_begins, type, out, recv_counts,
          recv_begins, type);
      break;
    case CollectiveKind::kSplit:
      break;
  }
  return request;
}

void end_native(const Group& group, const NativeCall& native) {
  const CollectiveCall& call = native.call;
  if (!native.piece.empty()) {
    std::memcpy(call.out.data(), native.piece.data(), native.piece.size());
  }
  if (call.reduces && call.op == ReduceOp::AVG && has_result(group, call)) {
    host::divide(call.out, group.size());
  }
}

}  // namespace rankbox::mpi
