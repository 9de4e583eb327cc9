#include "sim/pending_operation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "comm/ownership.h"
#include "sim/message/copy_bytes.h"
#include "sim/rank_state.h"
#include "sim/wait.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

constexpr unsigned char kFill = 0xFF;

/// Any change of one word changes it. In four lanes, since each step waits for the one before.
std::size_t fingerprint(Slice slice) {
  constexpr std::size_t kLanes = 4;
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::array<std::uint64_t, kLanes> lanes = {1, 2, 3, 4};
  const auto* from = static_cast<const char*>(slice.data());
  auto left = static_cast<std::size_t>(slice.bytes());
  std::array<std::uint64_t, kLanes> words = {};
  for (; left >= sizeof words; left -= sizeof words, from += sizeof words) {
    std::memcpy(words.data(), from, sizeof words);
    for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = std::rotl((lanes[i] ^ words[i]) * kOdd, 29);
  }
  words = {};
  if (left > 0) std::memcpy(words.data(), from, left);
  std::uint64_t all = left;
  for (std::size_t i = 0; i < kLanes; ++i) all = std::rotl((all ^ lanes[i] ^ words[i]) * kOdd, 29);
  return all;
}

/// Returns whether all bytes are kFill: the first one is, and each equals the next.
bool is_filled(Slice slice) {
  const auto* const bytes = static_cast<const unsigned char*>(slice.data());
  const auto size = static_cast<std::size_t>(slice.bytes());
  return size == 0 || (bytes[0] == kFill && std::memcmp(bytes, bytes + 1, size - 1) == 0);
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

CollectiveCall PendingOperation::keep_counts(CollectiveCall call) {
  const auto keep = [](std::span<const std::int64_t>& counts, Memory& kept) {
    if (counts.empty()) return;
    kept = uncounted(static_cast<std::int64_t>(counts.size_bytes()));
    std::memcpy(kept.get(), counts.data(), counts.size_bytes());
    counts = {reinterpret_cast<const std::int64_t*>(kept.get()), counts.size()};
  };
  keep(call.in_counts, in_counts_);
  keep(call.out_counts, out_counts_);
  return call;
}

void PendingOperation::use(Slice read, Slice written) {
  in_use_ = {rank_->memory.in_use, caller_, read, written};
}

void PendingOperation::watch(Slice read) {
  watched_ = read;
  fingerprint_ = fingerprint(read);
}

PendingOperation::Memory PendingOperation::uncounted(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(1, bytes));
  auto* const memory = static_cast<std::byte*>(std::malloc(size));
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, [](std::byte* freed) { std::free(freed); }};
}

Slice PendingOperation::hold_back(Slice target) {
  return hold_back(target, {new std::byte[static_cast<std::size_t>(target.bytes())],
                            [](std::byte* freed) { delete[] freed; }});
}

Slice PendingOperation::hold_back(Slice target, Memory memory) {
  target_ = target;
  held_back_ = std::move(memory);
  fill_bytes(target.data(), kFill, target.bytes());
  return {held_back_.get(), target.size(), target.dtype(), /*read_only=*/false, /*owner=*/0};
}

CollectiveCall PendingOperation::watch(CollectiveCall call, Slice written) {
  const Slice in = call.in;
  if (overlap(in, written)) {  // in place
    input_ = uncounted(in.bytes());
    copy_bytes(input_.get(), in.data(), in.bytes());
    call.in = {input_.get(), in.size(), in.dtype(), /*read_only=*/true, /*owner=*/0};
  }
  if (!written.is_null()) call.out = hold_back(written, uncounted(written.bytes()));
  if (!in.is_null()) watch(in);  // of what is in it by now
  return call;
}

bool PendingOperation::was_changed() const {
  if (held_back_ != nullptr && !is_filled(target_)) return true;
  return !watched_.is_null() && fingerprint(watched_) != fingerprint_;
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
  // An exception that ends this rank, or another one, may come of the data that it spoilt.
  if (rank_->overwritten == nullptr && was_changed())
    rank_->overwritten =
        std::make_exception_ptr(written_before_wait(caller_, peer_, Place()));  // never waited for
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
