// One thread and the fibers that take turns on it.
//
// A waiting fiber switches to the next one directly: there is no scheduler in between. If none is
// ready, it waits for one on its own stack, and that may be itself.
//
// Ready fibers are in two queues. One belongs to the worker. Other threads push the fibers that
// they wake onto the second, a stack that grows by one compare-and-swap and is taken as a whole.
// When empty, it records whether the worker sleeps, so no fiber can be added unnoticed.
#pragma once

#include <atomic>
#include <functional>

#include <boost/context/fiber.hpp>

#include "sim/executor/fiber_locals.h"
#include "sim/executor/fiber_sanitizers.h"
#include "sim/executor/fiber_stacks.h"

namespace rankbox::sim {

class FiberWorker;

/// A rank as a fiber. Only its worker's thread touches it, except for `state` and `next`.
struct alignas(64) Fiber {
  enum State : unsigned {
    kAwake,
    kWoken,  // unparked: is about to run, or need not sleep next time
    kParked
  };
  std::atomic<unsigned> state{kAwake};
  bool has_begun = false;
  bool has_ended = false;
  int rank = -1;
  FiberWorker* worker = nullptr;
  Fiber* next = nullptr;            // in one of the two queues
  boost::context::fiber context{};  // where it resumes; empty before it runs and while running
  FiberStacks::Stack stack{};
  FiberLocals::Values locals{};
  FiberMarks marks{};
};

class FiberWorker {
 public:
  /// Adds a fiber that has not run yet. Call before run().
  void add(Fiber& fiber);

  /// Calls body(rank) for all its fibers, and returns when all have returned.
  void run(const std::function<void(int)>& body);

  /// Returns whether the caller is `fiber`, on this worker's thread.
  bool runs(const Fiber& fiber) const;

  /// As Executor::park(), for the running fiber.
  void park(Fiber& fiber);

  /// Makes a parked fiber of this worker ready. Thread safety: any thread may call it, once per
  /// park.
  void make_ready(Fiber& fiber);

  /// Runs all other ready fibers of the calling thread. On a thread without fibers, yields the
  /// thread.
  static void yield();

 private:
  /// A FIFO queue.
  struct Queue {
    Fiber* head = nullptr;
    Fiber* tail = nullptr;
    void push(Fiber& fiber);
    Fiber& pop();
  };

  Fiber& next_ready();
  void take_woken();
  void switch_to(Fiber& next);
  void check_stack() const;
  boost::context::fiber leave_for(Fiber& next);
  void arrive_with(boost::context::fiber before);
  boost::context::fiber live(boost::context::fiber&& before);

  const std::function<void(int)>* body_ = nullptr;
  const FiberLocals* locals_ = nullptr;
  Queue ready_;
  Fiber* running_ = nullptr;
  Fiber* previous_ = nullptr;  // the previous fiber, which has just switched away
  int unfinished_ = 0;
  Fiber home_;                                      // the thread itself
  alignas(64) std::atomic<Fiber*> woken_{nullptr};  // by other threads; &home_: none; asleep
};

}  // namespace rankbox::sim
