// A baton for the threads of a program: one of them runs at a time, and a strategy picks it.
//
// Each thread stops before its next visible operation, says what it is, and hands the baton to the
// thread that the strategy chooses. An operation that would wait (a lock that is held, a join) is
// not chosen before it can go on, so no thread ever waits for anything but the baton. What locks
// and conditions hold is kept here, by their addresses; memory, atomics and semaphores are the
// program's own.
//
// Threads are fibers, which switch in less than a microsecond whatever else the machine does. Only
// programs that define thread_local variables need threads of the system (carrier.h).
//
// Thread safety: the holder of the baton alone uses the state, so it needs no lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <pthread.h>

#include "judge/interleave/carrier.h"
#include "judge/interleave/clock.h"
#include "judge/interleave/operation.h"
#include "judge/interleave/strategy.h"

namespace rankbox::interleave {

class Control;

/// A lock, a condition, a barrier or a word of memory.
struct Object {
  // By noun, among those of its kind in order of first use. Memory may be reused for another kind.
  std::map<std::string_view, std::int64_t> numbers;
  int holder = -1;           // the thread that holds the lock alone
  int depth = 0;             // how often it has locked it
  int readers = 0;           // threads that share the lock
  int arrived = 0;           // at the barrier
  int expected = 0;          // at the barrier
  std::int64_t version = 0;  // changes so far; of a barrier: how often all have arrived
  std::deque<int> waiters;   // of a condition or a word, the longest first
  Clock clock;               // of what happened before the last change
  Clock shared;              // of those who shared the lock, for the next to take it alone
};

/// A thread under control.
struct Thread {
  Control* control = nullptr;
  int number = 0;
  pthread_t handle = {};
  std::function<void*()> routine;
  void* result = nullptr;
  bool ended = false;
  bool joined = false;  // or detached
  Operation next;
  Object* on = nullptr;  // its place
  bool woken = false;
  bool gave_up = false;            // its timed wait
  std::int64_t generation = 0;     // of the barrier that it waits at
  const Thread* target = nullptr;  // that it joins
  Carrier carrier;
  Clock clock;

  struct Poll {
    const void* code;
    const Object* place;
    std::int64_t version;
  };
  std::vector<Poll> polls;    // since it last changed anything
  bool repeats = false;       // next is one of polls: it has gone around a loop
  int quiet_reads = 0;        // plain reads since its last step
  std::int64_t created = -1;  // the last step before
  int forced = 0;             // turns of loops that no change has ended
};

/// A plain variable is watched from the second time on that threads use it without an order: where
/// in the code that happens is kept for later executions, since addresses differ.
class Places {
 public:
  bool contains(const void* code) const { return codes_.contains(code); }
  void add(const void* code) { codes_.insert(code); }
  std::size_t size() const { return codes_.size(); }

 private:
  std::set<const void*> codes_;
};

/// kCut: at ExecutionOptions::most_steps, which proves nothing.
enum class Ending : std::uint8_t { kDone, kDeadlock, kLivelock, kCut };

/// What an execution did.
struct Execution {
  Ending ending = Ending::kDone;
  std::string problem;        // what the judge or the scheduler says; empty: nothing is wrong
  std::vector<Step> steps;    // if they were recorded
  std::vector<int> schedule;  // the thread of each step
  std::int64_t length = 0;    // steps
  std::exception_ptr thrown;  // by the program
};

struct Program {
  std::function<void()> body;          // runs as thread 0
  std::function<std::string()> judge;  // right after it; returns what is wrong
};

struct ExecutionOptions {
  bool record = true;
  bool real_threads = false;           // for programs with thread_local variables
  std::vector<std::uint64_t*> locals;  // words that each thread has for itself, 0 at first
  std::int64_t most_steps = 100'000;   // more are a livelock
};

class Control {
 public:
  Control(Strategy& strategy, Places& places, const ExecutionOptions& options)
      : strategy_(strategy), places_(places), options_(options) {}

  /// Runs the program as thread 0. Blocks until all threads have ended, or none can go on. After a
  /// deadlock or a livelock the threads stay parked for good, and this object must live on.
  Execution run(const Program& program);

  // ---- For the wrappers, on a thread under control ----

  /// The calling thread; null: not under control.
  static Thread* self();

  /// Blocks until the operation is ready and chosen. The caller carries it out on return, before it
  /// calls anything else here. Returns its record.
  Step& step(const Operation& operation);

  Object& object(const void* place);

  /// The caller's operation has changed the object, and what happened before is known to all who
  /// see it.
  void changed(const void* place);

  /// A plain access, which is a step only where threads share the variable.
  void plain_access(const void* place, const void* code, bool writes);

  /// As pthread_create and pthread_join.
  int start_thread(pthread_t* handle, const pthread_attr_t* attributes,
                   std::function<void*()> routine);

  int join_ended(Thread& thread, void** result);
  void detach(Thread& thread);
  [[noreturn]] void exit_thread(void* result);

  /// Returns the newest thread of that handle that is not joined; null: none.
  Thread* thread_of(pthread_t handle);
  Thread& thread(int number) { return *threads_[static_cast<std::size_t>(number)]; }

  // ---- For Program::judge ----

  /// The threads that the program has started.
  int started() const { return static_cast<int>(threads_.size()) - 1; }

  /// Those of them that may run on: the caller does not know of their end.
  int running() const {
    const Clock& known = self()->clock;
    return static_cast<int>(
        std::count_if(threads_.begin() + 1, threads_.end(), [&](const auto& each) {
          const int number = each->number;  // the end is the last but one of its moments
          return !each->ended || known.of(number) + 1 < each->clock.of(number);
        }));
  }

 private:
  void run_thread(Thread& me) noexcept;
  void end(Thread& me);
  bool is_free(const Thread& thread);
  bool still_repeats(const Thread& thread);
  Thread* choose(const Thread& me);
  Thread* choose_forced();
  bool can_give_up(const Thread& thread);
  void pass_on(Thread* next, Thread& me);
  void stop(Ending ending, const std::string& problem);
  std::int64_t number_of(Object& object, std::string_view noun);
  std::string who_waits();
  std::string what_it_waits_for(const Thread& thread);
  void follow(Thread& me, const Operation& operation);

  /// An access of a plain variable.
  struct Access {
    int thread = -1;
    std::uint32_t count = 0;  // the thread's own time
    const void* code = nullptr;
  };
  struct Shadow {
    Access write;               // the last one
    std::vector<Access> reads;  // since then, the last of each thread
  };

  Strategy& strategy_;
  Places& places_;
  ExecutionOptions options_;
  Program program_;
  Execution result_;
  Moment moment_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::unordered_map<const void*, Object> objects_;
  std::map<std::string_view, std::int64_t> numbers_;  // of objects, by noun
  std::unordered_map<const void*, Shadow> shadows_;
  Step last_;
  int forced_ = 0;                // choices in a row where no thread was ready
  std::size_t first_forced_ = 0;  // of those: the steps before
  Carrier explorer_;              // of run()
};

}  // namespace rankbox::interleave
