// One thread and the fibers that take turns on it.
//
// A fiber that has to wait switches to the next one directly: there is no scheduler in between.
// Where none is ready, it waits for one on its own stack, and that may be itself.
//
// Ready fibers are in two queues. One is the worker's own; other threads put what they wake into
// the other, a stack that grows by one compare-and-swap and is taken as a whole. When empty, it
// records whether the worker sleeps, so no fiber can be added unseen.
#pragma once

#include <atomic>
#include <functional>

#include <boost/context/fiber.hpp>

#include "sim/executor/fiber_locals.h"
#include "sim/executor/fiber_sanitizers.h"
#include "sim/executor/fiber_stacks.h"

namespace rankbox::sim {

class FiberWorker;

/// A rank as a fiber. Only its worker's thread touches it, `state` and `next` excepted.
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
  boost::context::fiber context{};  // where it goes on; empty until it has run, and while it runs
  FiberStacks::Stack stack{};
  FiberLocals::Values locals{};
  FiberMarks marks{};
};

class FiberWorker {
 public:
  /// Gives the worker a fiber that is yet to run. Before run().
  void add(Fiber& fiber);

  /// Calls body(rank) for all its fibers, and returns when all have returned.
  void run(const std::function<void(int)>& body);

  /// Whether the caller is `fiber`, and this its worker's thread.
  bool runs(const Fiber& fiber) const;

  /// As Executor::park(), for the fiber that runs.
  void park(Fiber& fiber);

  /// Makes a parked fiber of this worker ready. From any thread, once for every time it parked.
  void make_ready(Fiber& fiber);

  /// Lets all other ready fibers of the calling thread run. Elsewhere, other threads.
  static void yield();

 private:
  /// First come, first served.
  struct Queue {
    Fiber* head = nullptr;
    Fiber* tail = nullptr;
    void push(Fiber& fiber);
    Fiber& pop();
  };

  Fiber& next_ready();
  void take_woken();
  void switch_to(Fiber& next);
  boost::context::fiber leave_for(Fiber& next);
  void arrive_with(boost::context::fiber before);
  boost::context::fiber live(boost::context::fiber&& before);

  const std::function<void(int)>* body_ = nullptr;
  const FiberLocals* locals_ = nullptr;
  Queue ready_;
  Fiber* running_ = nullptr;
  Fiber* previous_ = nullptr;  // the fiber that ran before and has just switched away
  int unfinished_ = 0;
  Fiber home_;                                      // the thread itself
  alignas(64) std::atomic<Fiber*> woken_{nullptr};  // by other threads; &home_: none, and it sleeps
};

}  // namespace rankbox::sim
