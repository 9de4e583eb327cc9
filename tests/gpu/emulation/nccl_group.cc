// The operations of the emulated NCCL: checking, grouping, and enqueuing on streams.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/nccl_comm.h"
#include "tests/gpu/emulation/nccl_reduce.h"

namespace rankbox::gpu::emulation {
namespace {

struct Call {
  ncclComm_t comm;
  Task task;
  cudaStream_t stream;
  Ordered ordered;
};

/// This thread's calls since ncclGroupStart.
struct OpenGroup {
  int depth = 0;
  std::vector<Call> calls;
  std::vector<ncclComm_t> aborts;
  ncclResult_t error = ncclSuccess;
};

OpenGroup& open_group() {
  thread_local OpenGroup group;
  return group;
}

ncclResult_t cuda_failure(cudaError_t status) {
  return fail(ncclUnhandledCudaError, fmt::format("Cuda failure '{}'", cudaGetErrorString(status)));
}

/// Orders as NVIDIA's library does. A kernel follows the communicator's previous kernel and all
/// work on any of its streams, and those streams continue after it.
ncclResult_t put_on_streams(ncclComm_t comm, Kernel kernel,
                            const std::vector<cudaStream_t>& streams) {
  const auto shared = std::make_shared<Kernel>(std::move(kernel));
  const auto shared_comm = comm->shared_comm;
  const cudaStream_t first = streams.front();
  cudaError_t status = cudaStreamWaitEvent(first, comm->latest, 0);
  for (std::size_t i = 1; i < streams.size() && status == cudaSuccess; ++i) {
    status = cudaEventRecord(comm->latest, streams[i]);
    if (status == cudaSuccess) status = cudaStreamWaitEvent(first, comm->latest, 0);
  }
  if (status == cudaSuccess)
    status = enqueue(first, [shared, shared_comm] { shared_comm->run(*shared); });
  if (status == cudaSuccess) status = cudaEventRecord(comm->latest, first);
  for (std::size_t i = 1; i < streams.size() && status == cudaSuccess; ++i) {
    status = cudaStreamWaitEvent(streams[i], comm->latest, 0);
  }
  return status == cudaSuccess ? ncclSuccess : cuda_failure(status);
}

/// A kernel of one communicator's calls of a group.
ncclResult_t launch(ncclComm_t comm, const std::vector<Call>& calls) {
  Kernel kernel;
  kernel.rank = comm->rank;
  kernel.aborted = comm->aborted;
  std::vector<cudaStream_t> streams;
  ncclResult_t later = ncclSuccess;
  int to_self = 0;
  for (const Call& call : calls) {
    if (call.comm != comm) continue;
    kernel.tasks.push_back(call.task);
    Task& task = kernel.tasks.back();
    if (!task.is_message()) task.collective = comm->collectives++;
    if (task.peer == comm->rank && task.is_message()) {
      to_self += task.kind == TaskKind::kSend ? 1 : -1;
    }
    kernel.hangs = kernel.hangs || call.ordered.hangs;
    if (call.ordered.later != ncclSuccess) later = call.ordered.later;
    if (std::find(streams.begin(), streams.end(), call.stream) == streams.end()) {
      streams.push_back(call.stream);
    }
  }
  if (to_self != 0) {
    return fail(ncclInvalidUsage, to_self > 0 ? "Trying to send to self without a matching recv"
                                              : "Trying to recv to self without a matching send");
  }
  return carry_out_or_defer(comm, [comm, kernel, streams, later] {
    const ncclResult_t result = put_on_streams(comm, kernel, streams);
    if (later != ncclSuccess) comm->async_error = later;
    return result;
  });
}

ncclResult_t launch_all(const std::vector<Call>& calls) {
  std::vector<ncclComm_t> comms;
  for (const Call& call : calls) {
    if (std::find(comms.begin(), comms.end(), call.comm) != comms.end()) continue;
    if (!comms.empty() && comms.front()->blocking != call.comm->blocking) {
      return fail(ncclInvalidArgument,
                  "Blocking and nonblocking communicators are not allowed in the same group.");
    }
    comms.push_back(call.comm);
  }
  ncclResult_t all = ncclSuccess;
  for (ncclComm_t comm : comms) {
    const ncclResult_t result = launch(comm, calls);
    if (all == ncclSuccess || all == ncclInProgress) all = result == ncclSuccess ? all : result;
  }
  return all;
}

/// @param in_count, out_count elements at the two pointers; 0: not checked
ncclResult_t check(const Call& call, std::size_t in_count, std::size_t out_count) {
  const Task& task = call.task;
  const int ranks = call.comm->shared_comm->size();
  const std::size_t element = element_bytes(task.dtype);
  if (element == 0) return fail(ncclInvalidArgument, "invalid type");
  if (task.op < ncclSum || task.op > ncclAvg) {
    return fail(ncclInvalidArgument, fmt::format("invalid reduction operation {}", +task.op));
  }
  const bool has_peer =
      task.is_message() || task.kind == TaskKind::kBroadcast || task.kind == TaskKind::kReduce;
  if (has_peer && (task.peer < 0 || task.peer >= ranks)) {
    return fail(
        ncclInvalidArgument,
        fmt::format("invalid root {} (root should be in the 0..{} range)", task.peer, ranks - 1));
  }
  if ((in_count > 0 && !is_device_memory(task.in, in_count * element)) ||
      (out_count > 0 && !is_device_memory(task.out, out_count * element))) {
    return fail(ncclInvalidArgument, "a buffer is not a valid pointer of device memory");
  }
  if (device_of(call.stream) != call.comm->device) {
    return fail(ncclInvalidArgument, "the stream is not one of the communicator's device");
  }
  return ncclSuccess;
}

ncclResult_t call(ncclComm_t comm, cudaStream_t stream, const Task& task, std::size_t in_count,
                  std::size_t out_count) {
  OpenGroup& group = open_group();
  Call made{comm, task, stream, {}};
  ncclResult_t result = check_ready(comm);
  if (result == ncclSuccess) {
    made.ordered = count_operation(comm->device);
    result = made.ordered.now;
  }
  if (result == ncclSuccess) result = check(made, in_count, out_count);
  if (group.depth == 0) return result == ncclSuccess ? launch_all({made}) : result;
  if (result != ncclSuccess) {
    group.error = result;
    return result;
  }
  group.calls.push_back(made);
  return ncclSuccess;
}

}  // namespace

bool defer_abort(ncclComm_t comm) {
  if (open_group().depth == 0) return false;
  open_group().aborts.push_back(comm);
  return true;
}

}  // namespace rankbox::gpu::emulation

using rankbox::gpu::emulation::Task;
using rankbox::gpu::emulation::TaskKind;

extern "C" {

ncclResult_t ncclGroupStart() {
  ++rankbox::gpu::emulation::open_group().depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  auto& group = rankbox::gpu::emulation::open_group();
  if (group.depth == 0) {
    return rankbox::gpu::emulation::fail(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
  }
  if (--group.depth > 0) return ncclSuccess;
  const auto calls = std::exchange(group.calls, {});
  const ncclResult_t error = std::exchange(group.error, ncclSuccess);
  for (ncclComm_t comm : std::exchange(group.aborts, {}))
    rankbox::gpu::emulation::finish_abort(comm);
  return error != ncclSuccess ? error : rankbox::gpu::emulation::launch_all(calls);
}

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  const Task task{
      .kind = TaskKind::kSend, .in = sendbuff, .count = count, .dtype = datatype, .peer = peer};
  return rankbox::gpu::emulation::call(comm, stream, task, count, 0);
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  const Task task{
      .kind = TaskKind::kRecv, .out = recvbuff, .count = count, .dtype = datatype, .peer = peer};
  return rankbox::gpu::emulation::call(comm, stream, task, 0, count);
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                           ncclDataType_t datatype, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  const Task task{.kind = TaskKind::kBroadcast,
                  .in = sendbuff,
                  .out = recvbuff,
                  .count = count,
                  .dtype = datatype,
                  .peer = root};
  const bool sends = comm != nullptr && comm->rank == root;
  return rankbox::gpu::emulation::call(comm, stream, task, sends ? count : 0, count);
}

ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  const Task task{.kind = TaskKind::kReduce,
                  .in = sendbuff,
                  .out = recvbuff,
                  .count = count,
                  .dtype = datatype,
                  .op = op,
                  .peer = root};
  const bool receives = comm != nullptr && comm->rank == root;
  return rankbox::gpu::emulation::call(comm, stream, task, count, receives ? count : 0);
}

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                           ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  const Task task{.kind = TaskKind::kAllReduce,
                  .in = sendbuff,
                  .out = recvbuff,
                  .count = count,
                  .dtype = datatype,
                  .op = op};
  return rankbox::gpu::emulation::call(comm, stream, task, count, count);
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                               ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  const Task task{.kind = TaskKind::kReduceScatter,
                  .in = sendbuff,
                  .out = recvbuff,
                  .count = recvcount,
                  .dtype = datatype,
                  .op = op};
  const auto ranks = static_cast<size_t>(comm == nullptr ? 0 : comm->shared_comm->size());
  return rankbox::gpu::emulation::call(comm, stream, task, recvcount * ranks, recvcount);
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                           ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  const Task task{.kind = TaskKind::kAllGather,
                  .in = sendbuff,
                  .out = recvbuff,
                  .count = sendcount,
                  .dtype = datatype};
  const auto ranks = static_cast<size_t>(comm == nullptr ? 0 : comm->shared_comm->size());
  return rankbox::gpu::emulation::call(comm, stream, task, sendcount, sendcount * ranks);
}

}  // extern "C"
