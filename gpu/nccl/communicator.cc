// Messages, and the world around a rank. The collectives are in nccl_collectives.cc, split in
// nccl_split.cc.
#include "gpu/nccl/communicator.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "gpu/nccl/rank.h"

namespace rankbox::gpu {

namespace {

/// A rank that waits for itself: nobody else can ever end that.
DeadlockError waits_for_itself(const Caller& caller) {
  const Wait wait{caller.rank, caller.operation,         {caller.rank},
                  0,           caller.place.file_name(), static_cast<int>(caller.place.line())};
  return {fmt::format("deadlock: rank {} waits in {} for itself at {}:{}; hint: a rank cannot wait "
                      "for itself: copy() moves data within a rank",
                      caller.rank, caller.operation, wait.file, wait.line),
          caller.context(caller.rank),
          {wait},
          {caller.rank}};
}

/// Of a call that blocks, and that nothing went with.
bool is_stuck(const std::deque<NcclMessage>& messages) {
  return std::any_of(messages.begin(), messages.end(),
                     [](const NcclMessage& message) { return message.blocks; });
}

}  // namespace

NcclCommunicator::NcclCommunicator(NcclRank& rank) : NcclCommunicator(rank, &rank.world_member()) {}

int NcclCommunicator::rank() const { return member_ == nullptr ? -1 : member_->index; }

int NcclCommunicator::world_size() const { return member_ == nullptr ? 0 : member_->group->size(); }

int NcclCommunicator::node() const { return rank_->world().node_of(rank_->rank()); }

int NcclCommunicator::local_rank() const { return rank_->world().local_rank_of(rank_->rank()); }

Caller NcclCommunicator::begin(const char* operation, Place place) const {
  const Caller caller{rank_->rank(), rank_->owner(), rank(), world_size(), operation, place};
  check_member(caller);
  rank_->check_running(caller);
  return caller;
}

/// Posted, and noted by the recorder.
NcclMessage NcclCommunicator::make_message(const Caller& caller, bool sends, Slice slice, int peer,
                                           bool blocks) {
  const int index = member_->index;
  const PostedMessage posted{.sends = sends,
                             .blocks = blocks,
                             .rank = caller.rank,
                             .peer = member_->group->world_rank(peer),
                             .count = slice.size(),
                             .dtype = slice.dtype(),
                             .op = caller.operation,
                             .place = caller.place};
  rank_->post(caller, *member_, sends ? index : peer, sends ? peer : index, posted);
  const std::uint64_t number = member_->numbers[{sends, peer}]++;
  return {.sends = sends, .blocks = blocks, .peer = peer, .slice = slice, .number = number};
}

void NcclCommunicator::run(const Caller& caller, std::initializer_list<NcclMessage> messages) {
  Flight flight{.op = caller.operation, .place = caller.place};
  for (const NcclMessage& message : messages) {
    (message.sends ? flight.to : flight.from) = member_->group->world_rank(message.peer);
    flight.bytes = std::max(flight.bytes, message.slice.bytes());
    flight.dtype = message.slice.dtype();
  }
  const std::uint64_t number = rank_->recorder().begin(flight);
  std::vector<NcclMessage> to_others;
  for (NcclMessage message : messages) {
    message.flight = number;
    if (message.peer == member_->index) {
      (message.sends ? member_->to_self : member_->from_self).push_back(message);
    } else if (message.slice.size() > 0) {
      to_others.push_back(message);
    }
  }
  rank_->copy_to_self(*member_);
  if (is_stuck(member_->to_self) || is_stuck(member_->from_self)) {
    rank_->stop_and_throw(waits_for_itself(caller));
  }
  if (!to_others.empty()) {
    rank_->launch_with(caller, *member_, std::move(to_others));
  } else {
    rank_->recorder().enqueued(number, rank_->device().stream());
  }
}

NcclRequest NcclCommunicator::start(const Caller& caller, NcclMessage message) {
  const int peer = member_->group->world_rank(message.peer);
  auto pending = std::make_shared<NcclPending>(*rank_, *member_, caller, peer);
  message.request = pending;
  pending->set_message({message.sends, message.peer, message.number});
  Flight flight{.op = caller.operation,
                .bytes = message.slice.bytes(),
                .dtype = message.slice.dtype(),
                .place = caller.place};
  (message.sends ? flight.to : flight.from) = peer;
  message.flight = rank_->recorder().begin(flight);
  if (message.peer == member_->index) {
    (message.sends ? member_->to_self : member_->from_self).push_back(message);
    rank_->copy_to_self(*member_);
  } else if (message.slice.size() == 0) {
    rank_->recorder().finished(message.flight);
    pending->finish();
  } else {
    pending->defer();
    rank_->defer(*member_, message);
  }
  return NcclRequest(std::move(pending));
}

void NcclCommunicator::send(Slice slice, int dst, Place place) {
  const Caller caller = begin("send", place);
  check_peer(caller, dst, "destination");
  check_source(caller, slice);
  run(caller, {make_message(caller, /*sends=*/true, slice, dst, /*blocks=*/true)});
}

void NcclCommunicator::recv(Slice slice, int src, Place place) {
  const Caller caller = begin("recv", place);
  check_peer(caller, src, "source");
  check_target(caller, slice);
  run(caller, {make_message(caller, /*sends=*/false, slice, src, /*blocks=*/true)});
}

void NcclCommunicator::sendrecv(Slice out, int dst, Slice in, int src, Place place) {
  const Caller caller = begin("sendrecv", place);
  check_peer(caller, dst, "destination");
  check_peer(caller, src, "source");
  check_source(caller, out);
  check_target(caller, in);
  check_disjoint(caller, out, in);
  run(caller, {make_message(caller, /*sends=*/true, out, dst, /*blocks=*/true),
               make_message(caller, /*sends=*/false, in, src, /*blocks=*/true)});
}

NcclRequest NcclCommunicator::isend(Slice slice, int dst, Place place) {
  const Caller caller = begin("isend", place);
  check_peer(caller, dst, "destination");
  check_source(caller, slice);
  return start(caller, make_message(caller, /*sends=*/true, slice, dst, /*blocks=*/false));
}

NcclRequest NcclCommunicator::irecv(Slice slice, int src, Place place) {
  const Caller caller = begin("irecv", place);
  check_peer(caller, src, "source");
  check_target(caller, slice);
  return start(caller, make_message(caller, /*sends=*/false, slice, src, /*blocks=*/false));
}

void NcclCommunicator::wait(const Request& request, Place place) {
  const Caller caller = begin("wait", place);
  if (request.pending_ == nullptr) refuse_empty_request(caller);
  NcclPending& pending = *request.pending_;
  if (pending.caller().rank != caller.rank) refuse_foreign_request(caller, pending.caller().rank);
  if (pending.closed()) return;
  rank_->note_wait(caller, pending);
  if (pending.deferred()) rank_->launch_rounds(caller, pending.member(), rounds_until(pending));
  if (pending.event() != nullptr) {
    check(cudaStreamWaitEvent(rank_->device().stream(), pending.event(), 0), "cudaStreamWaitEvent",
          doing_of(caller, pending.peer()));
    if (pending.is_barrier()) rank_->wait_for_event(caller, pending.event());
  } else if (!pending.done()) {
    rank_->stop_and_throw(waits_for_itself(caller));
  }
  pending.close();
}

void NcclCommunicator::wait_all(std::span<const Request> requests, Place place) {
  const Caller caller = begin("wait_all", place);
  // What is waited for together goes to the stream together.
  const auto is_deferred = [&](const Request& request) {
    return request.pending_ != nullptr && request.pending_->rank() == rank_ &&
           request.pending_->deferred();
  };
  for (const Request& request : requests) {
    if (!is_deferred(request)) continue;
    NcclMember& member = request.pending_->member();
    int rounds = 0;
    for (const Request& other : requests) {
      if (!is_deferred(other) || &other.pending_->member() != &member) continue;
      rounds = std::max(rounds, rounds_until(*other.pending_));
    }
    rank_->launch_rounds(caller, member, rounds);
  }
  for (const Request& request : requests) wait(request, place);
}

void NcclCommunicator::wait_all(std::initializer_list<Request> requests, Place place) {
  wait_all(std::span<const Request>(requests.begin(), requests.size()), place);
}

void NcclCommunicator::compute(double seconds, Place place) {
  check_seconds(begin("compute", place), seconds);
}

void NcclCommunicator::compute(double seconds, Label /*label*/, Place place) {
  compute(seconds, place);
}

void NcclCommunicator::synchronize(Place place) {
  rank_->wait_for_all(begin("synchronize", place));
}

}  // namespace rankbox::gpu
