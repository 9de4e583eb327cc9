// Point to point, and the world around a rank. The collectives are in communicator_collectives.cc.
#include "mpi/communicator.h"

#include "mpi/collective.h"
#include "mpi/datatype.h"
#include "mpi/pending.h"
#include "mpi/run.h"

namespace rankbox::mpi {
namespace {

Message message_of(const Caller& caller, Group& group, Slice slice, int peer) {
  Message message;
  message.caller = caller;
  message.group = &group;
  message.slice = slice;
  message.peer = peer;
  return message;
}

/// A rank that blocks on a message to itself blocks for good, unless the other end is under way.
void check_not_alone(Run& run, const Message& message) {
  if (message.peer != message.group->index) return;
  for (const PendingOperation* pending : run.open_requests()) {
    const Message& other = pending->message;
    if (other.group == message.group && other.peer == message.peer && other.sends != message.sends)
      return;
  }
  if (!message.sends && run.has_buffered(*message.group, message.peer)) return;
  run.end_alone(message);
}

}  // namespace

Caller Communicator::begin(const char* operation, Place place) const {
  const Caller caller{run_->rank(), run_->memory().owner, rank(), world_size(), operation, place};
  run_->begin_call(caller);
  return caller;
}

int Communicator::rank() const { return group_ == nullptr ? -1 : group_->index; }

int Communicator::world_size() const { return group_ == nullptr ? 0 : group_->size(); }

int Communicator::node() const {
  const RunOptions& options = run_->options();
  if (options.nodes == 1) return environment().node;
  return static_cast<int>(static_cast<std::int64_t>(run_->rank()) * options.nodes /
                          options.world_size);
}

int Communicator::local_rank() const {
  const RunOptions& options = run_->options();
  if (options.nodes == 1) return environment().local_rank;
  const std::int64_t ranks = static_cast<std::int64_t>(node()) * options.world_size;
  return run_->rank() - static_cast<int>((ranks + options.nodes - 1) / options.nodes);
}

void Communicator::send(Slice slice, int dst, Place place) {
  const Caller caller = begin("send", place);
  check_peer(caller, dst, "destination");
  check_source(caller, slice);
  check_count(caller, slice);
  run_->count_message(slice.bytes());
  Message message = message_of(caller, *group_, slice, dst);
  message.sends = true;
  if (run_->options().buffering.buffers(slice.bytes())) return run_->send_buffered(message);
  check_not_alone(*run_, message);
  start_send(message, run_->tags());
  run_->wait(message);
}

void Communicator::recv(Slice slice, int src, Place place) {
  const Caller caller = begin("recv", place);
  check_peer(caller, src, "source");
  check_target(caller, slice);
  check_count(caller, slice);
  Message message = message_of(caller, *group_, slice, src);
  check_not_alone(*run_, message);
  start_recv(message, run_->tags());
  run_->wait(message);
}

void Communicator::sendrecv(Slice out, int dst, Slice in, int src, Place place) {
  const Caller caller = begin("sendrecv", place);
  check_peer(caller, dst, "destination");
  check_peer(caller, src, "source");
  check_source(caller, out);
  check_target(caller, in);
  check_disjoint(caller, out, in);
  check_count(caller, out);
  check_count(caller, in);
  run_->count_message(out.bytes());
  Message recv_half = message_of(caller, *group_, in, src);
  Message send_half = message_of(caller, *group_, out, dst);
  send_half.sends = true;
  start_recv(recv_half, run_->tags());
  if (run_->options().buffering.buffers(out.bytes())) {
    run_->send_buffered(send_half);
  } else {
    start_send(send_half, run_->tags());
  }
  run_->wait(recv_half, &send_half);
}

Request Communicator::isend(Slice slice, int dst, Place place) {
  const Caller caller = begin("isend", place);
  check_peer(caller, dst, "destination");
  check_source(caller, slice);
  check_count(caller, slice);
  run_->count_message(slice.bytes());
  auto pending = std::make_shared<PendingOperation>(*run_, caller);
  Message& message = pending->message = message_of(caller, *group_, slice, dst);
  message.sends = true;
  if (run_->options().buffering.buffers(slice.bytes())) {
    run_->send_buffered(message);
  } else {
    start_send(message, run_->tags());
  }
  return Request(std::move(pending));
}

Request Communicator::irecv(Slice slice, int src, Place place) {
  const Caller caller = begin("irecv", place);
  check_peer(caller, src, "source");
  check_target(caller, slice);
  check_count(caller, slice);
  auto pending = std::make_shared<PendingOperation>(*run_, caller);
  pending->message = message_of(caller, *group_, slice, src);
  start_recv(pending->message, run_->tags());
  return Request(std::move(pending));
}

void Communicator::wait(const Request& request, Place place) {
  const Caller caller = begin("wait", place);
  if (request.pending_ == nullptr) refuse_empty_request(caller);
  PendingOperation& pending = *request.pending_;
  if (pending.finished()) return;
  if (pending.collective != nullptr) {
    run_->wait_for(*pending.collective);
  } else {
    run_->wait(pending.message);
  }
  pending.finish();
}

void Communicator::wait_all(std::span<const Request> requests, Place place) {
  for (const Request& request : requests) wait(request, place);
}

void Communicator::wait_all(std::initializer_list<Request> requests, Place place) {
  for (const Request& request : requests) wait(request, place);
}

void Communicator::compute(double seconds, Place place) {
  check_seconds(begin("compute", place), seconds);
}

void Communicator::compute(double seconds, Label /*label*/, Place place) {
  compute(seconds, place);
}

void Communicator::synchronize(Place place) { begin("synchronize", place); }

}  // namespace rankbox::mpi
