#include "mpi/native.h"

#include <cstring>

#include "comm/ownership.h"
#include "host/arithmetic.h"
#include "mpi/check.h"
#include "mpi/datatype.h"

namespace rankbox::mpi {
namespace {

/// Fills the counts and begins of chunk(whole, i, p) for all i.
void fill_chunks(std::int64_t elements, int p, std::vector<int>& counts, std::vector<int>& begins) {
  for (int i = 0; i < p; ++i) {
    const std::int64_t begin = i * elements / p;
    begins.push_back(count_of(begin));
    counts.push_back(count_of((i + 1) * elements / p - begin));
  }
}

void fill_equal(std::int64_t each, int p, std::vector<int>& counts, std::vector<int>& begins) {
  for (int i = 0; i < p; ++i) {
    counts.push_back(count_of(each));
    begins.push_back(count_of(i * each));
  }
}

bool has_result(const Group& group, const CollectiveCall& call) {
  return call.kind != CollectiveKind::kReduce || call.root == group.index;
}

bool has_nothing_to_move(const CollectiveCall& call) {
  return call.kind != CollectiveKind::kBarrier && call.count == 0;
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
    case CollectiveKind::kAllGather:
      if (shared) native.in = MPI_IN_PLACE;
      break;
    case CollectiveKind::kScatter:
      if (shared) native.out = MPI_IN_PLACE;
      break;
    case CollectiveKind::kReduceScatter:
      fill_chunks(call.count, p, native.recv_counts, native.recv_begins);
      // An empty output may start at the same address as the input, which MPICH treats as an error.
      if (call.out.bytes() == 0) native.out = nullptr;
      if (shared) {
        native.piece.resize(static_cast<std::size_t>(call.out.bytes()));
        native.out = native.piece.data();
      }
      break;
    case CollectiveKind::kAllToAll:
      fill_chunks(call.count, p, native.send_counts, native.send_begins);
      fill_equal(chunk(call.in, group.index, p).size(), p, native.recv_counts, native.recv_begins);
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
  const int count = count_of(call.count);
  const int root = call.root;
  const MPI_Comm comm = group.comm;
  const void* const in = native.in;
  void* const out = native.out;
  const int* const counts = native.recv_counts.data();
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
      run(MPI_Bcast, MPI_Ibcast, out, count, type, root);
      break;
    case CollectiveKind::kReduce:
      run(MPI_Reduce, MPI_Ireduce, in, out, count, type, op, root);
      break;
    case CollectiveKind::kAllReduce:
      run(MPI_Allreduce, MPI_Iallreduce, in, out, count, type, op);
      break;
    case CollectiveKind::kGather:
      run(MPI_Gather, MPI_Igather, in, count, type, out, count, type, root);
      break;
    case CollectiveKind::kAllGather:
      run(MPI_Allgather, MPI_Iallgather, in, count, type, out, count, type);
      break;
    case CollectiveKind::kScatter:
      run(MPI_Scatter, MPI_Iscatter, in, count, type, out, count, type, root);
      break;
    case CollectiveKind::kReduceScatter:
      run(MPI_Reduce_scatter, MPI_Ireduce_scatter, in, out, counts, type, op);
      break;
    case CollectiveKind::kAllToAll:
      run(MPI_Alltoallv, MPI_Ialltoallv, in, native.send_counts.data(), native.send_begins.data(),
          type, out, counts, native.recv_begins.data(), type);
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
