#include "gpu/communicator.h"

#include "comm/call_checks.h"
#include "comm/fault.h"
#include "gpu/device_here.h"

namespace rankbox::gpu {

/// What every call on NCCL begins with.
void Communicator::attend(const char* operation, Place place) {
  const std::int64_t number = attendance_->operations++;
  if (attendance_->faults->empty()) [[likely]]
    return;
  Caller caller;
  caller.rank = device_here().rank();
  caller.operation = operation;
  caller.place = place;
  let_faults_happen(*attendance_->faults, caller, number);
}

template <class Call>
decltype(auto) Communicator::on_either(const char* operation, Place place, Call call) {
  if (auto* const shared = std::get_if<sim::Communicator>(&which_)) return call(*shared);
  attend(operation, place);
  return call(*std::get_if<NcclCommunicator>(&which_));
}

template <class Start>
Request Communicator::start(const char* operation, Place place, Start start) {
  return on_either(operation, place, [&](auto& dist) { return Request(start(dist)); });
}

void Communicator::count(Slice sent) {
  if (attendance_ == nullptr) return;
  ++attendance_->messages;
  attendance_->bytes += sent.bytes();
}

int Communicator::rank() const {
  return std::visit([](const auto& dist) { return dist.rank(); }, which_);
}
int Communicator::world_size() const {
  return std::visit([](const auto& dist) { return dist.world_size(); }, which_);
}
int Communicator::node() const {
  return std::visit([](const auto& dist) { return dist.node(); }, which_);
}
int Communicator::local_rank() const {
  return std::visit([](const auto& dist) { return dist.local_rank(); }, which_);
}

void Communicator::send(Slice slice, int dst, Place place) {
  on_either("send", place, [&](auto& dist) { dist.send(slice, dst, place); });
  count(slice);
}
void Communicator::recv(Slice slice, int src, Place place) {
  on_either("recv", place, [&](auto& dist) { dist.recv(slice, src, place); });
}
void Communicator::sendrecv(Slice out, int dst, Slice in, int src, Place place) {
  on_either("sendrecv", place, [&](auto& dist) { dist.sendrecv(out, dst, in, src, place); });
  count(out);
}
Request Communicator::isend(Slice slice, int dst, Place place) {
  Request request =
      start("isend", place, [&](auto& dist) { return dist.isend(slice, dst, place); });
  count(slice);
  return request;
}
Request Communicator::irecv(Slice slice, int src, Place place) {
  return start("irecv", place, [&](auto& dist) { return dist.irecv(slice, src, place); });
}

void Communicator::wait(const Request& request, Place place) {
  if (auto* const shared = std::get_if<sim::Communicator>(&which_)) {
    shared->wait(request.shared_, place);
  } else {
    attend("wait", place);
    std::get_if<NcclCommunicator>(&which_)->wait(request.nccl_, place);
  }
}
void Communicator::wait_all(std::span<const Request> requests, Place place) {
  for (const Request& request : requests) wait(request, place);
}
void Communicator::wait_all(std::initializer_list<Request> requests, Place place) {
  for (const Request& request : requests) wait(request, place);
}

void Communicator::barrier(Place place) {
  // As with NCCL, whose barrier takes its turn on the streams: what ranks did before it is done.
  if (std::holds_alternative<sim::Communicator>(which_))
    device_here().synchronize(0, {.op = "barrier", .place = place});
  on_either("barrier", place, [&](auto& dist) { dist.barrier(place); });
}
void Communicator::broadcast(Slice slice, int src, Place place) {
  on_either("broadcast", place, [&](auto& dist) { dist.broadcast(slice, src, place); });
}
void Communicator::reduce(Slice slice, int dst, ReduceOp op, Place place) {
  on_either("reduce", place, [&](auto& dist) { dist.reduce(slice, dst, op, place); });
}
void Communicator::all_reduce(Slice slice, ReduceOp op, Place place) {
  on_either("all_reduce", place, [&](auto& dist) { dist.all_reduce(slice, op, place); });
}
void Communicator::gather(Slice slice, Slice gathered, int dst, Place place) {
  on_either("gather", place, [&](auto& dist) { dist.gather(slice, gathered, dst, place); });
}
void Communicator::all_gather(Slice slice, Slice gathered, Place place) {
  on_either("all_gather", place, [&](auto& dist) { dist.all_gather(slice, gathered, place); });
}
void Communicator::scatter(Slice whole, Slice slice, int src, Place place) {
  on_either("scatter", place, [&](auto& dist) { dist.scatter(whole, slice, src, place); });
}
void Communicator::reduce_scatter(Slice slice, Slice piece, ReduceOp op, Place place) {
  on_either("reduce_scatter", place,
            [&](auto& dist) { dist.reduce_scatter(slice, piece, op, place); });
}
void Communicator::all_to_all(Slice input, Slice output, Place place) {
  on_either("all_to_all", place, [&](auto& dist) { dist.all_to_all(input, output, place); });
}

Request Communicator::barrier_async(Place place) {
  return start("barrier_async", place, [&](auto& dist) { return dist.barrier_async(place); });
}
Request Communicator::broadcast_async(Slice slice, int src, Place place) {
  return start("broadcast_async", place,
               [&](auto& dist) { return dist.broadcast_async(slice, src, place); });
}
Request Communicator::reduce_async(Slice slice, int dst, ReduceOp op, Place place) {
  return start("reduce_async", place,
               [&](auto& dist) { return dist.reduce_async(slice, dst, op, place); });
}
Request Communicator::all_reduce_async(Slice slice, ReduceOp op, Place place) {
  return start("all_reduce_async", place,
               [&](auto& dist) { return dist.all_reduce_async(slice, op, place); });
}
Request Communicator::gather_async(Slice slice, Slice gathered, int dst, Place place) {
  return start("gather_async", place,
               [&](auto& dist) { return dist.gather_async(slice, gathered, dst, place); });
}
Request Communicator::all_gather_async(Slice slice, Slice gathered, Place place) {
  return start("all_gather_async", place,
               [&](auto& dist) { return dist.all_gather_async(slice, gathered, place); });
}
Request Communicator::scatter_async(Slice whole, Slice slice, int src, Place place) {
  return start("scatter_async", place,
               [&](auto& dist) { return dist.scatter_async(whole, slice, src, place); });
}
Request Communicator::reduce_scatter_async(Slice slice, Slice piece, ReduceOp op, Place place) {
  return start("reduce_scatter_async", place,
               [&](auto& dist) { return dist.reduce_scatter_async(slice, piece, op, place); });
}
Request Communicator::all_to_all_async(Slice input, Slice output, Place place) {
  return start("all_to_all_async", place,
               [&](auto& dist) { return dist.all_to_all_async(input, output, place); });
}

Communicator Communicator::split(int color, int key, Place place) {
  return on_either("split", place, [&](auto& dist) {
    return Communicator(Which(dist.split(color, key, place)), attendance_);
  });
}

void Communicator::compute(double seconds, Place place) { compute(seconds, Label(), place); }

void Communicator::compute(double seconds, Label label, Place place) {
  on_either("compute", place, [&](auto& dist) { dist.compute(seconds, label, place); });
}

void Communicator::synchronize(Place place) {
  on_either("synchronize", place, [&](auto& dist) { dist.synchronize(place); });
  if (!std::holds_alternative<sim::Communicator>(which_)) return;
  RankDevice& gpu = device_here();
  gpu.order(gpu.side_stream(), gpu.stream());
  gpu.synchronize(0, {.op = "synchronize", .place = place});
}

}  // namespace rankbox::gpu
