#include "gpu/shared/peer_copies.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "comm/ownership.h"
#include "gpu/device/check.h"
#include "gpu/device_here.h"
#include "gpu/kernels/kernels.h"

namespace rankbox::gpu {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kLongestSpin{50};

/// Spins until the receiver has enqueued the message, or the time is over.
void give_receiver_time(const PeerCopy& copy, Clock::time_point until) {
  while (!copy.enqueued && Clock::now() < until) std::this_thread::yield();
}

}  // namespace

void PeerCopies::add(std::shared_ptr<PeerCopy> copy, bool receives) {
  if (receives) {
    received_ = std::move(copy);
  } else {
    sent_.push_back(std::move(copy));
  }
}

/// Orders the rank's stream after the message, by move() if the other rank has not enqueued it.
/// Returns whether it called move().
bool PeerCopies::enqueue(PeerCopy& copy, const std::function<void()>& move) {
  const std::lock_guard guard(copy.lock);
  if (copy.failure != nullptr) std::rethrow_exception(copy.failure);
  if (copy.enqueued) {
    SharedEvents::wait(gpu_.stream(), *copy.done);
    events_.release(copy.done);
    return false;
  }
  try {
    for (const SharedEvents::Mark* const mark : {copy.received, copy.sent})
      SharedEvents::wait(gpu_.stream(), *mark);
    move();
    copy.done = events_.record(gpu_.stream(), gpu_.device(), /*users=*/1);
  } catch (...) {
    copy.failure = std::current_exception();
    throw;
  }
  events_.release(copy.received);
  events_.release(copy.sent);
  copy.enqueued = true;
  return true;
}

void PeerCopies::enqueue_copy(PeerCopy& copy, const char* op) {
  enqueue(copy, [&] {
    check(cudaMemcpyAsync(copy.to, copy.from, static_cast<std::size_t>(copy.bytes),
                          cudaMemcpyDefault, gpu_.stream()),
          "cudaMemcpyAsync", {.op = op, .bytes = copy.bytes});
  });
}

void PeerCopies::settle() {
  // The received message first: its sender waits for it.
  if (const auto copy = std::exchange(received_, nullptr)) enqueue_copy(*copy, "recv");
  if (sent_.empty()) return;
  const Clock::time_point until = Clock::now() + kLongestSpin;
  while (!sent_.empty()) {
    const auto copy = std::move(sent_.back());
    sent_.pop_back();
    give_receiver_time(*copy, until);
    enqueue_copy(*copy, "send");
  }
}

bool PeerCopies::accumulate(Slice into, Slice from, ReduceOp op) {
  if (received_ == nullptr || received_->to != from.data() || received_->bytes != from.bytes())
    return false;
  const auto is_written = [&](const std::shared_ptr<PeerCopy>& sent) {
    const auto* const written = static_cast<const char*>(into.data());
    const auto* const read = static_cast<const char*>(sent->from);
    return written < read + sent->bytes && read < written + into.bytes();
  };
  if (overlap(into, from) || std::any_of(sent_.begin(), sent_.end(), is_written) ||
      device_of(into, gpu_.device()) != gpu_.device()) {
    return false;
  }
  const auto copy = std::exchange(received_, nullptr);
  return enqueue(*copy, [&] {
    launch_copy_accumulate(into.data(), copy->to, copy->from, from.size(), from.dtype(), op,
                           gpu_.stream());
  });
}

}  // namespace rankbox::gpu
