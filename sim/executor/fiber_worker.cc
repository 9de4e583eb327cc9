#include "sim/executor/fiber_worker.h"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "sim/executor/cpu_relax.h"

namespace rankbox::sim {
namespace {

// A worker with nothing to do looks for some microseconds, which is what news from another core
// take. Then it lets other threads have its core between two looks, for the one it waits for may be
// among them, until some time has passed: soon, where many want the core. Only then does it sleep.
// To be woken takes some 50 µs, during which the other one must not fall asleep as well: else two
// workers would do nothing but wake each other.
constexpr int kIdleLooks = 100;
constexpr std::chrono::microseconds kIdleTime{200};

thread_local FiberWorker* this_worker = nullptr;

/// Stacks are not a fiber's to free.
struct KeepStack {
  void deallocate(boost::context::stack_context&) const noexcept {}
};

}  // namespace

void FiberWorker::Queue::push(Fiber& fiber) {
  fiber.next = nullptr;
  (head == nullptr ? head : tail->next) = &fiber;
  tail = &fiber;
}

Fiber& FiberWorker::Queue::pop() {
  Fiber& first = *head;
  head = first.next;
  return first;
}

void FiberWorker::add(Fiber& fiber) {
  fiber.worker = this;
  ready_.push(fiber);
  ++unfinished_;
}

void FiberWorker::run(const std::function<void(int)>& body) {
  if (unfinished_ == 0) return;
  const FiberLocals locals;
  locals_ = &locals;
  body_ = &body;
  home_.has_begun = true;
  home_.marks.mark_as_thread();
  running_ = &home_;
  this_worker = this;
  switch_to(ready_.pop());  // and the last to end switches back
  this_worker = nullptr;
}

bool FiberWorker::runs(const Fiber& fiber) const {
  return this_worker == this && running_ == &fiber;
}

void FiberWorker::park(Fiber& fiber) {
  unsigned awake = Fiber::kAwake;
  if (fiber.state.compare_exchange_strong(awake, Fiber::kParked)) {
    // Whoever wakes it from here on only puts it into a queue of this thread: it cannot run before
    // it has stopped.
    Fiber& next = next_ready();
    if (&next != &fiber) switch_to(next);
  }
  fiber.state.exchange(Fiber::kAwake);  // not a store, which could miss what its waker published
}

void FiberWorker::make_ready(Fiber& fiber) {
  if (this_worker == this) {
    ready_.push(fiber);
    return;
  }
  Fiber* head = woken_.load(std::memory_order_relaxed);
  do {
    fiber.next = head == &home_ ? nullptr : head;
  } while (!woken_.compare_exchange_weak(head, &fiber));
  if (head == &home_) woken_.notify_one();
}

void FiberWorker::yield() {
  FiberWorker* const worker = this_worker;
  if (worker == nullptr) return std::this_thread::yield();
  worker->take_woken();
  if (worker->ready_.head == nullptr) return cpu_relax();
  worker->ready_.push(*worker->running_);
  worker->switch_to(worker->ready_.pop());
}

/// Takes the fiber whose turn it is. Sleeps until there is one.
Fiber& FiberWorker::next_ready() {
  std::chrono::steady_clock::time_point bedtime{};
  for (int looks = 0;; ++looks) {
    take_woken();
    if (ready_.head != nullptr) return ready_.pop();
    if (looks < kIdleLooks) {
      cpu_relax();
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    if (looks == kIdleLooks) bedtime = now + kIdleTime;
    if (now < bedtime) {
      std::this_thread::yield();
    } else {
      Fiber* nobody = nullptr;
      if (woken_.compare_exchange_strong(nobody, &home_)) woken_.wait(&home_);
    }
  }
}

/// Moves what other threads have woken to the worker's own queue.
void FiberWorker::take_woken() {
  if (woken_.load(std::memory_order_relaxed) == nullptr) return;
  Fiber* last = woken_.exchange(nullptr);
  Fiber* first = nullptr;  // the last to come is on top: turn them round
  while (last != nullptr) first = std::exchange(last, std::exchange(last->next, first));
  while (first != nullptr) ready_.push(*std::exchange(first, first->next));
}

void FiberWorker::switch_to(Fiber& next) {
  running_->locals = locals_->save();
  boost::context::fiber before = leave_for(next).resume();
  arrive_with(std::move(before));
}

/// The last that a fiber does before it hands over.
boost::context::fiber FiberWorker::leave_for(Fiber& next) {
  previous_ = std::exchange(running_, &next);
  if (next.has_begun) {
    previous_->marks.leave_for(next.marks);
    return std::move(next.context);
  }
  next.has_begun = true;
  next.marks.mark_as_new(next.stack.bottom, next.stack.bytes);
  // Before the new context is made, since that runs a moment on its stack.
  previous_->marks.leave_for(next.marks);
  boost::context::stack_context stack;
  stack.sp = next.stack.top();
  stack.size = next.stack.bytes;
  return boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), KeepStack(),
      [this](boost::context::fiber&& before) { return live(std::move(before)); });
}

/// The first that a fiber does when it is its turn.
/// @param before where the one goes on that has handed over; nowhere if it has ended
void FiberWorker::arrive_with(boost::context::fiber before) {
  running_->marks.arrive_from(previous_->marks, previous_->has_ended);
  previous_->context = std::move(before);
  locals_->restore(running_->locals);
}

/// A fiber's life. Returns where the thread goes on after it.
boost::context::fiber FiberWorker::live(boost::context::fiber&& before) {
  arrive_with(std::move(before));
  Fiber& me = *running_;
  (*body_)(me.rank);
  me.has_ended = true;
  return leave_for(--unfinished_ == 0 ? home_ : next_ready());
}

}  // namespace rankbox::sim
