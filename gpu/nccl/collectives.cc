// The native collectives on NCCL: the NCCL calls and the stream of each.
#include <cstdint>
#include <memory>
#include <utility>

#include "comm/collective_call.h"
#include "gpu/kernels/kernels.h"
#include "gpu/nccl/backend.h"
#include "gpu/nccl/rank.h"
#include "gpu/nccl/types.h"

namespace rankbox::gpu {
namespace {

/// One rank's collective, before it is on a stream.
struct Work {
  const CollectiveCall& call;
  int index;
  int ranks;
  ncclComm_t comm;
  cudaStream_t stream;
  bool averages;  // NCCL does: AVG is ncclAvg

  ncclRedOp_t op() const {
    return averages && call.op == ReduceOp::AVG ? ncclAvg : nccl_op(call.op, call.dtype);
  }
  ncclDataType_t dtype() const { return nccl_type(call.dtype); }
  std::size_t count() const { return static_cast<std::size_t>(call.count); }
  // Both sides skip pieces of 0 elements.
  ncclResult_t send_if_any(Slice piece, int peer) const {
    if (piece.size() == 0) return ncclSuccess;
    return ncclSend(piece.data(), nccl_count(piece), dtype(), peer, comm, stream);
  }
  ncclResult_t recv_if_any(Slice piece, int peer) const {
    if (piece.size() == 0) return ncclSuccess;
    return ncclRecv(piece.data(), nccl_count(piece), dtype(), peer, comm, stream);
  }
};

/// Copies this rank's part of a gather, scatter or all_to_all.
void copy_own(Slice into, Slice from, const Work& work, const Doing& doing) {
  if (into.size() == 0 || into.data() == from.data()) return;
  check(cudaMemcpyAsync(into.data(), from.data(), static_cast<std::size_t>(from.bytes()),
                        cudaMemcpyDeviceToDevice, work.stream),
        "cudaMemcpyAsync", doing);
}

/// Returns part i of n equal parts.
Slice part(Slice whole, int i, const Work& work) { return chunk(whole, i, work.ranks); }

ncclResult_t gather(const Work& work, const Doing& doing) {
  const CollectiveCall& call = work.call;
  if (work.index != call.root) return work.send_if_any(call.in, call.root);
  Pieces gathered(call.out, call.out_counts, work.ranks);
  return grouped_by_rank(work.ranks, [&](int src) {
    const Slice into = gathered.next();
    if (src != call.root) return work.recv_if_any(into, src);
    copy_own(into, call.in, work, doing);
    return ncclSuccess;
  });
}

ncclResult_t scatter(const Work& work, const Doing& doing) {
  const CollectiveCall& call = work.call;
  if (work.index != call.root) return work.recv_if_any(call.out, call.root);
  Pieces whole(call.in, call.in_counts, work.ranks);
  return grouped_by_rank(work.ranks, [&](int dst) {
    const Slice from = whole.next();
    if (dst != call.root) return work.send_if_any(from, dst);
    copy_own(call.out, from, work, doing);
    return ncclSuccess;
  });
}

/// A broadcast of each rank's piece, unless all have the same size.
ncclResult_t all_gather(const Work& work) {
  const CollectiveCall& call = work.call;
  if (call.out_counts.empty() && call.count % work.ranks == 0) {
    return ncclAllGather(call.in.data(), call.out.data(), nccl_count(call.in), work.dtype(),
                         work.comm, work.stream);
  }
  Pieces gathered(call.out, call.out_counts, work.ranks);
  return grouped_by_rank(work.ranks, [&](int src) {
    const Slice into = gathered.next();
    if (into.size() == 0) return ncclSuccess;
    const void* const from = src == work.index ? call.in.data() : into.data();
    return ncclBroadcast(from, into.data(), nccl_count(into), work.dtype(), src, work.comm,
                         work.stream);
  });
}

ncclResult_t all_to_all(const Work& work, const Doing& doing) {
  Pieces input(work.call.in, work.call.in_counts, work.ranks);
  Pieces output(work.call.out, work.call.out_counts, work.ranks);
  return grouped_by_rank(work.ranks, [&](int peer) {
    const Slice to = input.next();
    const Slice from = output.next();
    if (peer == work.index) {
      copy_own(from, to, work, doing);
      return ncclSuccess;
    }
    const ncclResult_t result = work.send_if_any(to, peer);
    return went_well(result) ? work.recv_if_any(from, peer) : result;
  });
}

ncclResult_t reduce_scatter(const Work& work) {
  const CollectiveCall& call = work.call;
  const ncclRedOp_t op = work.op();
  if (call.count % work.ranks == 0) {
    return ncclReduceScatter(call.in.data(), call.out.data(), nccl_count(call.out), work.dtype(),
                             op, work.comm, work.stream);
  }
  return grouped_by_rank(work.ranks, [&](int root) {
    const Slice piece = part(call.in, root, work);
    if (piece.size() == 0) return ncclSuccess;
    void* const out = root == work.index ? call.out.data() : nullptr;
    return ncclReduce(piece.data(), out, nccl_count(piece), work.dtype(), op, root, work.comm,
                      work.stream);
  });
}

ncclResult_t enqueue(const Work& work, std::int32_t* scratch, const Doing& doing) {
  const CollectiveCall& call = work.call;
  void* const data = call.in.data();
  switch (call.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSplit:
      return ncclAllReduce(scratch, scratch, 1, ncclInt32, ncclMax, work.comm, work.stream);
    case CollectiveKind::kBroadcast:
      return ncclBroadcast(data, data, work.count(), work.dtype(), call.root, work.comm,
                           work.stream);
    case CollectiveKind::kReduce:
      return ncclReduce(data, work.index == call.root ? data : nullptr, work.count(), work.dtype(),
                        work.op(), call.root, work.comm, work.stream);
    case CollectiveKind::kAllReduce:
      return ncclAllReduce(data, data, work.count(), work.dtype(), work.op(), work.comm,
                           work.stream);
    case CollectiveKind::kGather:
    case CollectiveKind::kGatherV:
      return gather(work, doing);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllGatherV:
      return all_gather(work);
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterV:
      return scatter(work, doing);
    case CollectiveKind::kReduceScatter:
      return reduce_scatter(work);
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kAllToAllV:
      return all_to_all(work, doing);
  }
  return ncclInternalError;
}

const char* nccl_name(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSplit:
    case CollectiveKind::kAllReduce:
      return "ncclAllReduce";
    case CollectiveKind::kBroadcast:
      return "ncclBroadcast";
    case CollectiveKind::kReduce:
      return "ncclReduce";
    case CollectiveKind::kAllGather:
      return "ncclAllGather";
    case CollectiveKind::kReduceScatter:
      return "ncclReduceScatter";
    default:
      return "a group of messages";
  }
}

/// Divides the result of AVG, so far a sum.
void divide_if_average(const Work& work) {
  const CollectiveCall& call = work.call;
  if (!call.reduces || call.op != ReduceOp::AVG || work.ranks == 1 || work.averages) return;
  if (call.kind == CollectiveKind::kReduce && work.index != call.root) return;
  launch_change(SmallOperation::Kind::kDivide, call.out.data(), call.out.size(), call.dtype,
                small_value(call.dtype, std::int64_t{work.ranks}), work.stream);
}

/// Enqueues the collective on the stream. Returns the launch, or 0 if there is nothing to move.
std::uint64_t launch(const Caller& caller, NcclRank& rank, NcclMember& member,
                     const CollectiveCall& call, cudaStream_t stream, bool async) {
  rank.check_is_here(caller, call.in);
  rank.check_is_here(caller, call.out);
  if (!async) rank.flush(caller);
  const std::uint64_t record = rank.record().begin(caller, member, call, async);
  const bool has_data = call.kind != CollectiveKind::kBarrier;
  if (has_data && call.count == 0) {
    rank.record().done(record);
    return 0;
  }
  const Doing doing = doing_of(caller, member.world_rank(call.root),
                               call.count < 0 ? -1 : call.count * size_of(call.dtype));
  const auto work = [&] {
    return Work{
        call, member.index, caller.size, member.collectives, stream, /*averages=*/rank.is_timed()};
  };
  const std::uint64_t launch = rank.launch(
      caller, doing, nccl_name(call), member.collectives, stream,
      [&] { return enqueue(work(), member.scratch, doing); }, [&] { divide_if_average(work()); },
      /*is_awaited=*/async || !has_data);
  rank.record().launched(record, launch);
  rank.make_room(caller);
  return launch;
}

}  // namespace

void NcclBackend::run(const Caller& caller, const CollectiveCall& call) {
  const cudaStream_t stream = rank_->device().stream();
  launch(caller, *rank_, *member_, call, stream, /*async=*/false);
  if (call.kind == CollectiveKind::kBarrier) rank_->wait_for_stream(caller, stream);
}

NcclBackend::Pending NcclBackend::start(const Caller& caller, const CollectiveCall& call) {
  RankDevice& device = rank_->device();
  const cudaStream_t stream = rank_->created(caller, member_->collective_stream);
  device.order_before(stream);
  const std::uint64_t number = launch(caller, *rank_, *member_, call, stream, /*async=*/true);
  Pending pending = rank_->make_pending(caller, member_->world_rank(call.root));
  pending->set_flight(rank_->record().latest());
  pending->set_launch(number);
  if (number == 0) pending->set_done();
  if (call.kind == CollectiveKind::kBarrier) pending->set_barrier();
  return pending;
}

}  // namespace rankbox::gpu
