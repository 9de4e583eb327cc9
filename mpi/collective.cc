#include "mpi/collective.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "mpi/check.h"

namespace rankbox::mpi {
namespace {

/// Memory for as much as `slice` holds.
std::unique_ptr<char[]> room_for(Slice slice) {
  return std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(slice.bytes()));
}

}  // namespace

Collective::Collective(Group& group, const Caller& caller, const CollectiveCall& call, bool checked)
    : group_(group), caller_(caller), call_(call) {
  if (checked) {
    agreement_.emplace(group, caller, call);
  } else {
    start();
  }
}

const std::string& Collective::mismatch() const {
  static const std::string none;
  return agreement_ ? agreement_->mismatch() : none;
}

bool Collective::has_result() const {
  if (call_.out.is_null()) return false;
  return call_.kind != CollectiveKind::kReduce || call_.root == group_.index;
}

void Collective::start() {
  stage_ = Stage::kRunning;
  // Nothing to do: a split is its caller's work, and without elements there is none.
  if (call_.kind == CollectiveKind::kSplit) return;
  if (call_.kind != CollectiveKind::kBarrier && call_.count == 0) return;
  const auto copy_in = [](std::unique_ptr<char[]>& copy, Slice slice) {
    copy = room_for(slice);
    if (slice.bytes() > 0)
      std::memcpy(copy.get(), slice.data(), static_cast<std::size_t>(slice.bytes()));
  };
  // A broadcast has one slice, to read from or to write to.
  const bool broadcast = call_.kind == CollectiveKind::kBroadcast;
  if (broadcast) {
    copy_in(out_, call_.out);
  } else {
    if (!call_.in.is_null()) copy_in(in_, call_.in);
    if (has_result()) out_ = room_for(call_.out);
  }
  native_ = native_call(group_, call_, in_.get(), out_.get());
  request_ = start_native(group_, native_, caller_);
}

void Collective::deliver() {
  if (abandoned_ || out_ == nullptr) return;
  if (call_.out.bytes() > 0)
    std::memcpy(call_.out.data(), out_.get(), static_cast<std::size_t>(call_.out.bytes()));
  end_native(group_, native_);
}

void Collective::listen() {
  if (stage_ == Stage::kAgreeing && !agreed_) agreed_ = agreement_->advance();
}

void Collective::advance() {
  listen();
  if (stage_ == Stage::kAgreeing && agreed_) start();
  if (stage_ != Stage::kRunning) return;
  int done = 0;
  check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test", caller_, -1, call_.in.bytes());
  if (done == 0) return;
  deliver();
  stage_ = Stage::kDone;
}

void advance_all(Group& group) {
  bool may_start = true;
  for (const std::shared_ptr<Collective>& collective : group.collectives) {
    may_start ? collective->advance() : collective->listen();
    may_start = may_start && collective->has_started();
  }
  while (!group.collectives.empty() && group.collectives.front()->is_done()) {
    group.collectives.pop_front();
  }
}

}  // namespace rankbox::mpi
