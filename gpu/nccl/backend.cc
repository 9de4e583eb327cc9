// Messages, requests and rank queries. collectives.cc has the collectives, split.cc has split.
#include "gpu/nccl/backend.h"

#include <utility>

#include "gpu/nccl/rank.h"

namespace rankbox::gpu {

NcclBackend::NcclBackend(NcclRank& rank) : NcclBackend(rank, &rank.world_member(), nullptr) {}

int NcclBackend::rank() const { return member_ == nullptr ? -1 : member_->index; }

int NcclBackend::size() const { return member_ == nullptr ? 0 : member_->size(); }

int NcclBackend::node() const { return rank_->world().node_of(rank_->rank()); }

int NcclBackend::local_rank() const { return rank_->world().local_rank_of(rank_->rank()); }

Caller NcclBackend::caller(const char* operation, Place place) const {
  return {rank_->rank(), rank_->owner(), rank(), size(), operation, place};
}

void NcclBackend::begin(const Caller& caller) {
  check_thread(caller);
  rank_->begin(caller);
}

void NcclBackend::send(const Caller& caller, Slice slice, int dst) {
  rank_->run(caller, *member_, {{.sends = true, .peer = dst, .slice = slice}});
}

void NcclBackend::recv(const Caller& caller, Slice slice, int src) {
  rank_->run(caller, *member_, {{.sends = false, .peer = src, .slice = slice}});
}

void NcclBackend::sendrecv(const Caller& caller, Slice out, int dst, Slice in, int src) {
  rank_->run(
      caller, *member_,
      {{.sends = true, .peer = dst, .slice = out}, {.sends = false, .peer = src, .slice = in}});
}

NcclBackend::Pending NcclBackend::isend(const Caller& caller, Slice slice, int dst) {
  return rank_->defer(caller, *member_, {.sends = true, .peer = dst, .slice = slice});
}

NcclBackend::Pending NcclBackend::irecv(const Caller& caller, Slice slice, int src) {
  return rank_->defer(caller, *member_, {.sends = false, .peer = src, .slice = slice});
}

void NcclBackend::wait(const Caller& caller, const Pending& pending) {
  rank_->wait(caller, *pending);
}

const Caller* NcclBackend::starter(const Pending& pending) {
  return pending == nullptr ? nullptr : &pending->caller();
}

void NcclBackend::synchronize(const Caller& caller) { rank_->synchronize(caller); }

void NcclBackend::set_timed(bool timed) { rank_->set_timed(timed); }

void NcclBackend::call_in_group(const std::function<void()>& calls) {
  const Caller caller = this->caller("a group of collectives", Place::current());
  rank_->call_in_group(caller, member_->collectives, calls);
}

}  // namespace rankbox::gpu
