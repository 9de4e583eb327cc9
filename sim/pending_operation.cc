#include "sim/pending_operation.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "sim/message/copy_bytes.h"
#include "sim/rank_state.h"
#include "sim/wait.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

std::size_t fingerprint(Slice slice) {
  return std::hash<std::string_view>()(
      {static_cast<const char*>(slice.data()), static_cast<std::size_t>(slice.bytes())});
}

}  // namespace

PendingOperation::PendingOperation(const Caller& caller, RankState& rank, Group& group,
                                   std::uint32_t number)
    : caller_(caller), rank_(&rank), group_(group), number_(number) {
  rank.open_requests.push_back(this);
}

PendingOperation::~PendingOperation() {
  if (!finished()) drop();
}

void PendingOperation::use(Slice read, Slice written) {
  // A thread that the rank's program started must not touch the rank's table.
  if (current_memory_meter() != &rank_->memory) return;
  in_use_ = {rank_->memory.in_use, caller_, read, written};
}

void PendingOperation::watch(Slice sent) {
  watched_ = sent;
  fingerprint_ = fingerprint(sent);
}

bool PendingOperation::was_changed() const {
  return !watched_.is_null() && fingerprint(watched_) != fingerprint_;
}

Slice PendingOperation::hold_back(Slice target) {
  target_ = target;
  held_back_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(target.bytes()));
  fill_bytes(target.data(), 0xFF, target.bytes());
  return {held_back_.get(), target.size(), target.dtype(), /*read_only=*/false, /*owner=*/0};
}

CollectiveCall PendingOperation::hold_back(CollectiveCall call, Slice written) {
  const std::int64_t size = written.bytes();
  if (size == 0) return call;
  const auto* const begin = static_cast<const std::byte*>(written.data());
  const auto* const in = static_cast<const std::byte*>(call.in.data());
  const bool is_apart = call.in.bytes() == 0 || in >= begin + size || in + call.in.bytes() <= begin;
  const bool is_inside = in >= begin && in + call.in.bytes() <= begin + size;
  if (!is_apart && !is_inside) return call;
  const auto shadow = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(size));
  copy_bytes(shadow.get(), begin, size);
  call.out = hold_back(written);
  copy_bytes(call.out.data(), shadow.get(), size);
  if (!is_apart) {
    call.in = {static_cast<std::byte*>(call.out.data()) + (in - begin), call.in.size(),
               call.in.dtype(), /*read_only=*/true, /*owner=*/0};
  }
  return call;
}

void PendingOperation::deliver() {
  if (held_back_ != nullptr) copy_bytes(target_.data(), held_back_.get(), target_.bytes());
}

void PendingOperation::finish() {
  // Usually the latest.
  auto& open = rank_->open_requests;
  const auto at = std::find(open.rbegin(), open.rend(), this);
  *at = open.back();
  open.pop_back();
  if (is_collective_) leave_collective(collective_);
  in_use_.close();
  rank_ = nullptr;
}

void PendingOperation::drop() {
  Operation& mine = operation();
  if (mine.state.load(std::memory_order_acquire) != kDone) {
    const bool taken_back =
        is_collective_ ? group_.withdraw(collective_) : mine.channel->abandon(mine);
    if (!taken_back) wait_until_done(mine);
  }
  // In a stopped world ranks are being unwound: the drop is not their error.
  if (rank_->dropped_request.empty() && !rank_->world->is_stopped()) {
    rank_->dropped_request = fmt::format(
        "request never waited for: rank {} called {} at {}:{}; keep the Request and wait() for it",
        rank_->rank, caller_.operation, caller_.place.file_name(), caller_.place.line());
    rank_->dropped_operation = caller_.operation;
    rank_->dropped_peer = peer_;
    rank_->dropped_place = caller_.place;
  }
  finish();
}

void drop_open_requests(RankState& rank) {
  while (!rank.open_requests.empty()) rank.open_requests.back()->drop();
}

}  // namespace rankbox::sim
