#include "sim/channel.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "sim/buffered_send.h"
#include "sim/rank_state.h"
#include "sim/wait.h"

namespace rankbox::sim {
namespace {

std::string describe(const Operation& operation) {
  const bool sends = operation.kind == OperationKind::kSend;
  return fmt::format("rank {} {} {} {} ({} bytes) {} rank {} at {}:{}", operation.owner->rank,
                     sends ? "sends" : "receives", operation.bytes / size_of(operation.dtype),
                     name_of(operation.dtype), operation.bytes, sends ? "to" : "from",
                     operation.peer, operation.place.file_name(), operation.place.line());
}

/// The other rank may sleep on the other half of its sendrecv, and has to learn that this one
/// failed. Either that half is in its channel, and is taken out here; or it is yet to be posted,
/// and then its owner sees the outcome after posting it, since both go through that channel's lock.
void fail_other_half(const Operation& failed) {
  Operation* half = failed.other_half;
  if (half == nullptr || !half->channel->withdraw(*half)) return;
  half->mismatch = failed.mismatch;
  half->outcome.store(Outcome::kMismatch, std::memory_order_relaxed);
  complete(*half);
}

}  // namespace

/// Moves the message, or tells both sides why not. `mine` was just posted by this rank, `theirs`
/// was queued.
void Channel::transfer(Operation& mine, Operation& theirs, const Front& their_front) {
  const bool sending = mine.kind == OperationKind::kSend;
  if (mine.bytes != their_front.bytes || mine.dtype != their_front.dtype) [[unlikely]] {
    const std::string mismatch = fmt::format(
        "message mismatch: {}, but {}; nothing was copied (both sides must agree on element count "
        "and dtype)",
        describe(sending ? mine : theirs), describe(sending ? theirs : mine));
    mine.mismatch = theirs.mismatch = mismatch;
    mine.outcome.store(Outcome::kMismatch, std::memory_order_relaxed);
    theirs.outcome.store(Outcome::kMismatch, std::memory_order_relaxed);
    fail_other_half(theirs);
  } else if (mine.bytes == 0) {
    // The news is all there is.
  } else if (!sending) {
    std::memcpy(mine.data, their_front.data, static_cast<std::size_t>(mine.bytes));
  } else if (mine.bytes <= Operation::kInlineBytes) {
    std::memcpy(theirs.inlined, mine.data, static_cast<std::size_t>(mine.bytes));
    theirs.delivered_inline = true;
  } else {
    std::memcpy(their_front.data, mine.data, static_cast<std::size_t>(mine.bytes));
  }
  complete(theirs);
  mine.state.store(kDone, std::memory_order_relaxed);  // its owner is here
}

void Channel::append(Operation& operation) {
  operation.next = nullptr;
  if (tail_ == nullptr) {
    head_ = &operation;
    front_ = {operation.data, operation.bytes, operation.dtype, operation.kind, operation.buffered};
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
    front_ = {head_->data, head_->bytes, head_->dtype, head_->kind, head_->buffered};
  }
  return popped;
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
  {
    std::lock_guard guard(lock_);
    if (closed_) [[unlikely]] {
      operation.outcome.store(Outcome::kStopped, std::memory_order_relaxed);
    } else if (head_ != nullptr && front_.kind != operation.kind) {
      their_front = front_;
      theirs = pop_front();
    } else {
      append(operation);
      return true;
    }
  }
  if (theirs != nullptr) {
    transfer(operation, *theirs, their_front);  // unless buffered, it may be gone after that
    if (their_front.buffered) release_buffered(theirs);
  } else {
    operation.state.store(kDone, std::memory_order_relaxed);
  }
  if (operation.buffered) release_buffered(&operation);
  return theirs != nullptr;
}

bool Channel::withdraw(Operation& operation) {
  std::lock_guard guard(lock_);
  Operation* before = nullptr;
  for (Operation* at = head_; at != nullptr; before = at, at = at->next) {
    if (at != &operation) continue;
    if (before == nullptr) {
      pop_front();
    } else {
      before->next = at->next;
      if (tail_ == at) tail_ = before;
    }
    return true;
  }
  return false;
}

void Channel::close() {
  Operation* queue = nullptr;
  {
    std::lock_guard guard(lock_);
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
    found.push_back({at->kind, at->owner->rank, at->peer, at->bytes, at->place});
  }
  return found;
}

}  // namespace rankbox::sim
