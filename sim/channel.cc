#include "sim/channel.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "sim/buffered_send.h"
#include "sim/rank_state.h"
#include "sim/wait.h"

namespace rankbox::sim {
namespace {

std::string describe(const Operation& operation) {
  const bool sends = operation.kind == OperationKind::kSend;
  return fmt::format("rank {} {} {} {} ({} bytes) {} rank {} at {}:{}", operation.owner->rank, sends ? "sends" : "receives",
                     operation.bytes / size_of(operation.dtype), name_of(operation.dtype), operation.bytes,
                     sends ? "to" : "from", operation.peer, operation.place.file_name(), operation.place.line());
}

/// Moves the message, or tells both sides why not. `mine` was just posted by this rank, `theirs` was queued.
void transfer(Operation& mine, Operation& theirs) {
  const bool mine_is_send = mine.kind == OperationKind::kSend;
  Operation& send = mine_is_send ? mine : theirs;
  Operation& recv = mine_is_send ? theirs : mine;
  if (send.bytes != recv.bytes || send.dtype != recv.dtype) [[unlikely]] {
    const std::string mismatch = fmt::format(
        "message mismatch: {}, but {}; nothing was copied (both sides must agree on element count and dtype)",
        describe(send), describe(recv));
    mine.mismatch = theirs.mismatch = mismatch;
    mine.outcome = theirs.outcome = Outcome::kMismatch;
  } else if (send.bytes == 0) {
    // The news is all there is.
  } else if (mine_is_send && send.bytes <= Operation::kInlineBytes) {
    std::memcpy(recv.inlined, send.data, static_cast<std::size_t>(send.bytes));
    recv.delivered_inline = true;
  } else {
    std::memcpy(recv.data, send.data, static_cast<std::size_t>(send.bytes));
  }
  complete(theirs);
  mine.state.store(kDone, std::memory_order_relaxed);  // its owner is here
}

}  // namespace

Channel::~Channel() {
  while (head_ != nullptr) {
    Operation* next = head_->next;
    if (head_->buffered) release_buffered(head_);
    head_ = next;
  }
}

bool Channel::post(Operation& operation) {
  Operation* theirs = nullptr;
  {
    std::lock_guard guard(lock_);
    if (closed_) [[unlikely]] {
      operation.outcome = Outcome::kStopped;
    } else if (head_ != nullptr && head_->kind != operation.kind) {
      theirs = head_;
      head_ = head_->next;
      if (head_ == nullptr) tail_ = nullptr;
    } else {
      operation.next = nullptr;
      (tail_ == nullptr ? head_ : tail_->next) = &operation;
      tail_ = &operation;
      return true;
    }
  }
  if (theirs != nullptr) {
    const bool theirs_is_ours = theirs->buffered;  // else it is gone once transfer has completed it
    transfer(operation, *theirs);
    if (theirs_is_ours) release_buffered(theirs);
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
    (before == nullptr ? head_ : before->next) = at->next;
    if (tail_ == at) tail_ = before;
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
      queue->outcome = Outcome::kStopped;
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
