#include "sim/message/channel.h"

#include <exception>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "sim/executor/spin.h"
#include "sim/message/buffered_send.h"
#include "sim/message/copy_bytes.h"
#include "sim/rank_state.h"
#include "sim/wait.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

/// Names ranks of the world.
std::string describe(const Operation& operation) {
  const bool sends = operation.kind == OperationKind::kSend;
  return fmt::format("rank {} {} {} {} ({} bytes) {} rank {} at {}:{}", operation.owner->rank,
                     sends ? "sends" : "receives", operation.bytes / size_of(operation.dtype),
                     name_of(operation.dtype), operation.bytes, sends ? "to" : "from",
                     operation.peer, operation.place.file_name(), operation.place.line());
}

/// Both ranks throw it when they wait for the message, which a deadlock may prevent.
void remember_mismatch(const Operation& mine, const Operation& theirs) {
  const Operation& lower = mine.owner->rank < theirs.owner->rank ? mine : theirs;
  const bool sends = lower.kind == OperationKind::kSend;
  mine.owner->mismatches.emplace_back(
      mine.mismatch->text,
      ErrorContext{lower.owner->rank, sends ? "send" : "recv", lower.peer, lower.place.file_name(),
                   static_cast<int>(lower.place.line())});
}

/// The other rank may be parked on the other half of its sendrecv, and must see that this one
/// failed. Either that half is in its channel, and is removed here. Or it is posted later, and then
/// its owner sees the outcome after posting it, since both go through that channel's lock.
void fail_other_half(const Operation& failed) {
  Operation* half = failed.other_half;
  if (half == nullptr || !half->channel->withdraw(*half)) return;
  half->mismatch = std::make_unique<Mismatch>(*failed.mismatch);
  half->outcome.store(Outcome::kMismatch, std::memory_order_relaxed);
  complete(*half);
}

/// Moves the message with the data plane. If that fails, neither side may keep waiting.
void move_on_device(Operation& mine, Operation& theirs) {
  const DataPlane::Side here{mine.data, mine.transit};
  const DataPlane::Side there{theirs.data, theirs.transit};
  const bool sending = mine.kind == OperationKind::kSend;
  try {
    mine.owner->data_plane->copy(sending ? there : here, sending ? here : there, mine.bytes,
                                 mine.transit);
  } catch (...) {
    mine.owner->world->stop(std::current_exception());
    mine.outcome.store(Outcome::kStopped, std::memory_order_relaxed);
    theirs.outcome.store(Outcome::kStopped, std::memory_order_relaxed);
  }
}

}  // namespace

/// Moves the message, or completes both sides with a mismatch. `mine` was just posted by this rank,
/// `theirs` was queued.
void Channel::transfer(Operation& mine, Operation& theirs, const Front& their_front) {
  const bool sending = mine.kind == OperationKind::kSend;
  if (mine.bytes != their_front.bytes || mine.dtype != their_front.dtype) [[unlikely]] {
    const Operation& sent = sending ? mine : theirs;
    const std::string mismatch = fmt::format(
        "message mismatch: {}, but {}{}; nothing was copied (both sides must agree on element "
        "count and dtype)",
        describe(sent), describe(sending ? theirs : mine),
        mine.owner->world->group_of(*mine.channel).in_words(sent.owner->rank, sent.peer));
    mine.mismatch = std::make_unique<Mismatch>(Mismatch{mismatch, mine.peer});
    theirs.mismatch = std::make_unique<Mismatch>(Mismatch{mismatch, theirs.peer});
    mine.outcome.store(Outcome::kMismatch, std::memory_order_relaxed);
    theirs.outcome.store(Outcome::kMismatch, std::memory_order_relaxed);
    fail_other_half(theirs);
    remember_mismatch(mine, theirs);
  } else if (mine.owner->data_plane != nullptr) [[unlikely]] {
    move_on_device(mine, theirs);
  } else if (sending) {
    copy_bytes(their_front.data, mine.data, mine.bytes);
  } else {
    copy_bytes(mine.data, their_front.data, mine.bytes);
  }
  complete(theirs);
  mine.state.store(kDone, std::memory_order_relaxed);  // its owner is the caller
}

Channel::Front Channel::front_of(const Operation& operation) {
  return {operation.data, operation.bytes,    operation.dtype,
          operation.kind, operation.buffered, operation.watched};
}

void Channel::append(Operation& operation) {
  const bool is_first = head_ == nullptr;
  if (operation.watched && operation.kind == OperationKind::kSend) {
    operation.watched = is_first && operation.bytes <= kInlineBytes;
    if (operation.watched) copy_bytes(from_send_, operation.data, operation.bytes);
  }
  // Set for an earlier operation. This call clears it, since it must write to the line anyway.
  if (operation.watched) moved(operation.kind).store(false, std::memory_order_relaxed);

  operation.next = nullptr;
  if (is_first) {
    head_ = &operation;
    front_ = front_of(operation);
  } else {
    tail_->next = &operation;
  }
  tail_ = &operation;
}

Operation* Channel::pop_front() {
  Operation* const popped = head_;
  if (popped == tail_) {
    head_ = tail_ = nullptr;
  } else {
    head_ = popped->next;
    front_ = front_of(*head_);
  }
  return popped;
}

std::atomic<bool>& Channel::moved(OperationKind watched) {
  return watched == OperationKind::kSend ? send_moved_ : recv_moved_;
}

/// Moves a short message between `mine` and the queued watched operation, without touching the
/// latter. REQUIRES the lock. Returns false if there is none, or if the two do not fit.
bool Channel::move_inline(const Operation& mine) {
  const bool fits = front_.watched && mine.bytes == front_.bytes && mine.dtype == front_.dtype &&
                    mine.bytes <= kInlineBytes;
  if (!fits) return false;
  if (mine.kind == OperationKind::kSend) {
    copy_bytes(to_recv_, mine.data, mine.bytes);
  } else {
    copy_bytes(mine.data, from_send_, mine.bytes);
  }
  std::atomic<bool>& theirs_moved = moved(front_.kind);
  pop_front();
  theirs_moved.store(true, std::memory_order_release);
  return true;
}

Channel::~Channel() {
  while (head_ != nullptr) {
    Operation* next = head_->next;
    if (head_->buffered) release_buffered(head_);
    head_ = next;
  }
}

bool Channel::post(Operation& operation) {
  Operation* theirs = nullptr;
  Front their_front;
  bool open = true;
  {
    const Lock guard(lock_);
    if (closed_) [[unlikely]] {
      operation.outcome.store(Outcome::kStopped, std::memory_order_relaxed);
      open = false;
    } else if (head_ == nullptr || front_.kind == operation.kind || gap_ == 0) {
      append(operation);
      return true;
    } else {
      if (gap_ > 0) --gap_;
      if (!move_inline(operation)) {
        their_front = front_;
        theirs = pop_front();
      }
    }
  }
  if (theirs != nullptr) {
    transfer(operation, *theirs, their_front);  // unless buffered, it may be destroyed after that
    if (their_front.buffered) release_buffered(theirs);
  } else {
    operation.state.store(kDone, std::memory_order_relaxed);
  }
  if (operation.buffered) release_buffered(&operation);
  return open;
}

bool Channel::watch(Operation& operation) {
  const std::atomic<bool>& has_moved = moved(operation.kind);
  const auto is_done = [&] {
    if (operation.state.load(std::memory_order_acquire) == kDone) return true;
    if (!has_moved.load(std::memory_order_acquire)) return false;
    if (operation.kind == OperationKind::kRecv)
      copy_bytes(operation.data, to_recv_, operation.bytes);
    operation.state.store(kDone, std::memory_order_relaxed);  // its owner is the caller
    return true;
  };
  if (spin_until(is_done, operation.owner->spin_limit)) return true;
  const Lock guard(lock_);
  if (head_ == &operation) front_.watched = false;
  operation.watched = false;
  return is_done();
}

bool Channel::withdraw(Operation& operation) { return take_out(operation, /*leaves_gap=*/false); }

bool Channel::abandon(Operation& operation) { return take_out(operation, /*leaves_gap=*/true); }

bool Channel::take_out(const Operation& operation, bool leaves_gap) {
  const Lock guard(lock_);
  Operation* before = nullptr;
  std::int32_t ahead = 0;
  for (Operation* at = head_; at != nullptr; before = at, at = at->next, ++ahead) {
    if (at != &operation) continue;
    if (before == nullptr) {
      pop_front();
    } else {
      before->next = at->next;
      if (tail_ == at) tail_ = before;
    }
    if (ahead < gap_) --gap_;
    if (leaves_gap && (gap_ < 0 || ahead < gap_)) gap_ = ahead;
    return true;
  }
  return false;
}

void Channel::close() {
  Operation* queue = nullptr;
  {
    const Lock guard(lock_);
    closed_ = true;
    queue = std::exchange(head_, nullptr);
    tail_ = nullptr;
  }
  while (queue != nullptr) {
    Operation* next = queue->next;
    if (queue->buffered) {
      release_buffered(queue);
    } else {
      queue->outcome.store(Outcome::kStopped, std::memory_order_relaxed);
      complete(*queue);
    }
    queue = next;
  }
}

std::vector<Channel::Leftover> Channel::leftovers() const {
  std::vector<Leftover> found;
  for (const Operation* at = head_; at != nullptr; at = at->next) {
    found.push_back({at, at->kind, at->owner->rank, at->peer, at->bytes, at->place, nullptr});
  }
  return found;
}

}  // namespace rankbox::sim
