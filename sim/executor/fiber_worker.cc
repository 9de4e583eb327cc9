#include "sim/executor/fiber_worker.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "sim/executor/cpu_relax.h"

namespace rankbox::sim {
namespace {

// An idle worker spins for some microseconds, the time of a message from another core. Then it
// yields between two spins, because the thread that it waits for may need this core. It sleeps only
// after kIdleTime. Waking takes some 50 µs; if the other worker fell asleep in that time, two
// workers would do nothing but wake each other.
constexpr int kIdleSpins = 100;
constexpr std::chrono::microseconds kIdleTime{200};

thread_local FiberWorker* this_worker = nullptr;

/// FiberStacks owns the stacks, so fibers free nothing.
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
  switch_to(ready_.pop());  // and the last fiber to end switches back
  this_worker = nullptr;
}

bool FiberWorker::runs(const Fiber& fiber) const {
  return this_worker == this && running_ == &fiber;
}

void FiberWorker::park(Fiber& fiber) {
  unsigned awake = Fiber::kAwake;
  if (fiber.state.compare_exchange_strong(awake, Fiber::kParked)) {
    // A wake-up from now on only adds this fiber to a queue of this thread: the fiber cannot run
    // before it has stopped.
    Fiber& next = next_ready();
    if (&next != &fiber) switch_to(next);
  }
  fiber.state.exchange(Fiber::kAwake);  // not a store, which could miss its waker's data
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

/// Takes the next ready fiber. Sleeps until there is one.
Fiber& FiberWorker::next_ready() {
  std::chrono::steady_clock::time_point bedtime{};
  for (int spins = 0;; ++spins) {
    take_woken();
    if (ready_.head != nullptr) return ready_.pop();
    if (spins < kIdleSpins) {
      cpu_relax();
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    if (spins == kIdleSpins) bedtime = now + kIdleTime;
    if (now < bedtime) {
      std::this_thread::yield();
    } else {
      Fiber* none = nullptr;
      if (woken_.compare_exchange_strong(none, &home_)) woken_.wait(&home_);
    }
  }
}

/// Moves the fibers woken by other threads to the worker's own queue.
void FiberWorker::take_woken() {
  if (woken_.load(std::memory_order_relaxed) == nullptr) return;
  Fiber* last = woken_.exchange(nullptr);
  Fiber* first = nullptr;  // the stack has the latest on top: reverse it
  while (last != nullptr) first = std::exchange(last, std::exchange(last->next, first));
  while (first != nullptr) ready_.push(*std::exchange(first, first->next));
}

void FiberWorker::switch_to(Fiber& next) {
  running_->locals = locals_->save();
  boost::context::fiber before = leave_for(next).resume();
  arrive_with(std::move(before));
}

/// Ends the program if the running fiber has left its stack. A frame larger than a page may jump
/// over the guard, and old kernels do not guard every stack (fiber_stacks.h).
void FiberWorker::check_stack() const {
  if (running_ == &home_ || __builtin_frame_address(0) >= running_->stack.bottom) return;
  std::fprintf(stderr,
               "rank %d: its variables need more than the %zu KiB of a fiber's stack; keep large "
               "arrays in a std::vector, or run the ranks as threads\n",
               running_->rank, running_->stack.bytes >> 10);
  std::abort();  // the memory of another rank may be overwritten
}

/// The last step of a fiber before it switches away.
boost::context::fiber FiberWorker::leave_for(Fiber& next) {
  check_stack();
  previous_ = std::exchange(running_, &next);
  if (next.has_begun) {
    previous_->marks.leave_for(next.marks);
    return std::move(next.context);
  }
  next.has_begun = true;
  next.marks.mark_as_new(next.stack.bottom, next.stack.bytes);
  // Before the new context is created, since that runs briefly on its stack.
  previous_->marks.leave_for(next.marks);
  boost::context::stack_context stack;
  stack.sp = next.stack.top();
  stack.size = next.stack.bytes;
  return boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), KeepStack(),
      [this](boost::context::fiber&& before) { return live(std::move(before)); });
}

/// The first step of a fiber that continues.
/// @param before the context of the fiber that switched away; empty if it has ended
void FiberWorker::arrive_with(boost::context::fiber before) {
  running_->marks.arrive_from(previous_->marks, previous_->has_ended);
  previous_->context = std::move(before);
  locals_->restore(running_->locals);
}

/// Runs a fiber to its end. Returns the context that the thread continues with.
boost::context::fiber FiberWorker::live(boost::context::fiber&& before) {
  arrive_with(std::move(before));
  Fiber& me = *running_;
  (*body_)(me.rank);
  me.has_ended = true;
  return leave_for(--unfinished_ == 0 ? home_ : next_ready());
}

}  // namespace rankbox::sim
