// A visible operation: what a thread does where other threads can notice it.
//
// Between two of them a thread's work is its own. So the order of visible operations determines
// everything that a program computes, and a schedule is a list of threads, one for each operation.
#pragma once

#include <cstdint>

namespace rankbox::interleave {

enum class Action : std::uint8_t {
  kStart,         // of a thread
  kEnd,           // of a thread
  kLoad,          // of a SharedValue
  kStore,         // of a SharedValue
  kRead,          // of a plain variable that threads share
  kWrite,         // of a plain variable that threads share
  kAtomicLoad,    //
  kAtomicStore,   //
  kAtomicUpdate,  // exchange, fetch_add, compare_exchange, …
  kLock,          // waits until the lock is free
  kLockShared,    // waits until no thread holds the lock alone
  kTryLock,       // of a lock or a semaphore
  kUnlock,        //
  kUnlockShared,  //
  kWait,          // releases a mutex and starts to wait for a condition
  kWake,          // ends that wait, and holds the mutex again
  kNotify,        //
  kAcquire,       // of a semaphore: waits until it is above 0
  kRelease,       // of a semaphore
  kArrive,        // at a barrier
  kLeave,         // a barrier: waits until all have arrived
  kSleep,         // on a word of memory (a futex), unless it has changed
  kWoken,         // waits until woken from there
  kRouse,         // wakes those who sleep on a word of memory
  kJoin,          // waits until a thread has ended
  kYield,         // also a sleep of some time
};

struct Operation {
  Action action = Action::kStart;
  const void* place = nullptr;   // the object; null: none
  const void* second = nullptr;  // another one: the mutex of kWait, the condition of kWake
  const void* code = nullptr;    // the address that the call returns to
  bool timed = false;            // the wait may give up
  bool commutes = false;         // with others of its kind: a semaphore that is above 1
};

/// An operation that was carried out.
struct Step {
  int thread = 0;
  Operation operation;
  bool gave_up = false;     // a timed wait, or an attempt that failed
  std::int64_t before = 0;  // of loads, stores and updates: the number in memory before it
  std::int64_t after = 0;   // and after it
  // Of the object among those of its kind, in order of first use; kJoin: of the thread; kStart: of
  // the step in which it was created.
  std::int64_t number = 0;
};

/// Returns the kind of the operation's object: "lock", "condition", "atomic", …; "" if there is
/// none, or if it may be of several.
const char* noun_of(Action action);

/// Returns whether the operation changes its object, or may: two that only read commute.
bool changes(Action action);

/// Returns whether the operation only proceeds when the object is free, and takes it.
bool takes(Action action);

/// Returns whether the operation only frees an object, for those who wait to take it.
bool frees(Action action);

/// Returns whether what happened before the last change of the object happened before this, too.
/// Plain accesses order nothing.
bool learns(Action action);

/// Returns whether the operation may be a turn of a loop that waits for a change.
bool polls(Action action);

/// Returns whether the order of the two matters.
bool depend(const Operation& a, const Operation& b);

}  // namespace rankbox::interleave
