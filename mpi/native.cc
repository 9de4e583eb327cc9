#include "mpi/native.h"

#include <cstring>
#include <numeric>

#include "comm/ownership.h"
#include "comm/tensor.h"
#include "mpi/check.h"
#include "mpi/datatype.h"

namespace rankbox::mpi {
namespace {

/// Counts and begins of chunk(whole, i, p) for all i.
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

}  // namespace

NativeCall native_call(const Group& group, const CollectiveCall& call, const void* in, void* out) {
  NativeCall native{call, in, out, {}, {}, {}, {}, {}};
  const int p = group.size();
  const bool same = in == out && call.in.bytes() > 0;
  // Copies are apart, wherever the slices themselves are.
  const bool shared = in == call.in.data() && out == call.out.data() && overlap(call.in, call.out);
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
      // No elements may lie where the others begin, which MPICH takes for a mistake.
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

MPI_Request start_native(const Group& group, NativeCall& native, const Caller& caller) {
  const CollectiveCall& call = native.call;
  const MPI_Datatype type = datatype_of(call.dtype);
  const MPI_Op op = op_of(call.op, call.dtype);
  const int count = count_of(call.count);
  const MPI_Comm comm = group.messages;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  switch (call.kind) {
    case CollectiveKind::kBarrier:
      code = MPI_Ibarrier(comm, &request);
      break;
    case CollectiveKind::kBroadcast:
      code = MPI_Ibcast(native.out, count, type, call.root, comm, &request);
      break;
    case CollectiveKind::kReduce:
      code = MPI_Ireduce(native.in, native.out, count, type, op, call.root, comm, &request);
      break;
    case CollectiveKind::kAllReduce:
      code = MPI_Iallreduce(native.in, native.out, count, type, op, comm, &request);
      break;
    case CollectiveKind::kGather:
      code =
          MPI_Igather(native.in, count, type, native.out, count, type, call.root, comm, &request);
      break;
    case CollectiveKind::kAllGather:
      code = MPI_Iallgather(native.in, count, type, native.out, count, type, comm, &request);
      break;
    case CollectiveKind::kScatter:
      code =
          MPI_Iscatter(native.in, count, type, native.out, count, type, call.root, comm, &request);
      break;
    case CollectiveKind::kReduceScatter:
      code = MPI_Ireduce_scatter(native.in, native.out, native.recv_counts.data(), type, op, comm,
                                 &request);
      break;
    case CollectiveKind::kAllToAll:
      code = MPI_Ialltoallv(native.in, native.send_counts.data(), native.send_begins.data(), type,
                            native.out, native.recv_counts.data(), native.recv_begins.data(), type,
                            comm, &request);
      break;
    case CollectiveKind::kSplit:
      break;
  }
  check(code, "the non-blocking collective", caller, -1, call.in.bytes());
  return request;
}

void run_native(const Group& group, NativeCall& native, const Caller& caller) {
  const CollectiveCall& call = native.call;
  const MPI_Datatype type = datatype_of(call.dtype);
  const MPI_Op op = op_of(call.op, call.dtype);
  const int count = count_of(call.count);
  const MPI_Comm comm = group.messages;
  int code = MPI_SUCCESS;
  switch (call.kind) {
    case CollectiveKind::kBarrier:
      code = MPI_Barrier(comm);
      break;
    case CollectiveKind::kBroadcast:
      code = MPI_Bcast(native.out, count, type, call.root, comm);
      break;
    case CollectiveKind::kReduce:
      code = MPI_Reduce(native.in, native.out, count, type, op, call.root, comm);
      break;
    case CollectiveKind::kAllReduce:
      code = MPI_Allreduce(native.in, native.out, count, type, op, comm);
      break;
    case CollectiveKind::kGather:
      code = MPI_Gather(native.in, count, type, native.out, count, type, call.root, comm);
      break;
    case CollectiveKind::kAllGather:
      code = MPI_Allgather(native.in, count, type, native.out, count, type, comm);
      break;
    case CollectiveKind::kScatter:
      code = MPI_Scatter(native.in, count, type, native.out, count, type, call.root, comm);
      break;
    case CollectiveKind::kReduceScatter:
      code = MPI_Reduce_scatter(native.in, native.out, native.recv_counts.data(), type, op, comm);
      break;
    case CollectiveKind::kAllToAll:
      code = MPI_Alltoallv(native.in, native.send_counts.data(), native.send_begins.data(), type,
                           native.out, native.recv_counts.data(), native.recv_begins.data(), type,
                           comm);
      break;
    case CollectiveKind::kSplit:
      break;
  }
  check(code, "the collective", caller, -1, call.in.bytes());
}

void end_native(const Group& group, NativeCall& native) {
  const CollectiveCall& call = native.call;
  if (!native.piece.empty()) {
    std::memcpy(call.out.data(), native.piece.data(), native.piece.size());
  }
  if (call.reduces && call.op == ReduceOp::AVG && has_result(group, call)) {
    Slice result = call.out;
    if (is_integer(result.dtype())) {
      detail::divide(result, std::int64_t{group.size()});
    } else {
      detail::divide(result, static_cast<double>(group.size()));
    }
  }
}

}  // namespace rankbox::mpi
