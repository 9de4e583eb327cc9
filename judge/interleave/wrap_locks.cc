// Mutexes, shared mutexes, spin locks and flags of call_once.
#include <cerrno>

#include <cxxabi.h>
#include <pthread.h>

#include "judge/interleave/wrap.h"

namespace rankbox::interleave {

namespace {

using enum Action;

/// Takes the lock for this thread alone. Returns an error number.
int lock(Thread& me, const void* place, const void* code, int kind, bool timed) {
  Object& object = me.control->object(place);
  if (object.holder == me.number) {
    if (kind == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
    if (kind == PTHREAD_MUTEX_RECURSIVE) {
      ++object.depth;
      return 0;
    }
  }
  const Step& step =
      me.control->step({.action = kLock, .place = place, .code = code, .timed = timed});
  if (step.gave_up) return ETIMEDOUT;
  object.holder = me.number;
  object.depth = 1;
  me.control->changed(place);
  return 0;
}

int try_lock(Thread& me, const void* place, const void* code, int kind) {
  Object& object = me.control->object(place);
  if (object.holder == me.number && kind == PTHREAD_MUTEX_RECURSIVE) {
    ++object.depth;
    return 0;
  }
  Step& step = me.control->step({.action = kTryLock, .place = place, .code = code});
  step.gave_up = object.holder >= 0 || object.readers > 0;
  if (step.gave_up) return EBUSY;
  object.holder = me.number;
  object.depth = 1;
  me.control->changed(place);
  return 0;
}

int lock_shared(Thread& me, const void* place, const void* code, bool timed) {
  const Step& step =
      me.control->step({.action = kLockShared, .place = place, .code = code, .timed = timed});
  if (step.gave_up) return ETIMEDOUT;
  ++me.control->object(place).readers;
  me.control->changed(place);
  return 0;
}

int unlock(Thread& me, const void* place, const void* code) {
  Object& object = me.control->object(place);
  if (object.holder == me.number && --object.depth > 0) return 0;
  me.control->step(
      {.action = object.readers > 0 ? kUnlockShared : kUnlock, .place = place, .code = code});
  if (object.readers > 0) {
    --object.readers;
  } else {
    object.holder = -1;
  }
  me.control->changed(place);
  return 0;
}

int kind_of(const pthread_mutex_t* mutex) { return mutex->__data.__kind & 3; }

}  // namespace

extern "C" {

int wrap_mutex_lock(pthread_mutex_t* mutex) RANKBOX_WRAPS("pthread_mutex_lock");
int wrap_mutex_lock(pthread_mutex_t* mutex) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_mutex_lock(mutex)
                       : lock(*me, mutex, __builtin_return_address(0), kind_of(mutex), false);
}

int wrap_mutex_trylock(pthread_mutex_t* mutex) RANKBOX_WRAPS("pthread_mutex_trylock");
int wrap_mutex_trylock(pthread_mutex_t* mutex) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_mutex_trylock(mutex)
                       : try_lock(*me, mutex, __builtin_return_address(0), kind_of(mutex));
}

int wrap_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until)
    RANKBOX_WRAPS("pthread_mutex_timedlock");
int wrap_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_mutex_timedlock(mutex, until)
                       : lock(*me, mutex, __builtin_return_address(0), kind_of(mutex), true);
}

int wrap_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until)
    RANKBOX_WRAPS("pthread_mutex_clocklock");
int wrap_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_mutex_clocklock(mutex, clock, until)
                       : lock(*me, mutex, __builtin_return_address(0), kind_of(mutex), true);
}

int wrap_mutex_unlock(pthread_mutex_t* mutex) RANKBOX_WRAPS("pthread_mutex_unlock");
int wrap_mutex_unlock(pthread_mutex_t* mutex) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_mutex_unlock(mutex)
                       : unlock(*me, mutex, __builtin_return_address(0));
}

int wrap_rdlock(pthread_rwlock_t* lock) RANKBOX_WRAPS("pthread_rwlock_rdlock");
int wrap_rdlock(pthread_rwlock_t* lock) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_rwlock_rdlock(lock)
                       : lock_shared(*me, lock, __builtin_return_address(0), false);
}

int wrap_timedrdlock(pthread_rwlock_t* lock, const timespec* until)
    RANKBOX_WRAPS("pthread_rwlock_timedrdlock");
int wrap_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_rwlock_timedrdlock(lock, until)
                       : lock_shared(*me, lock, __builtin_return_address(0), true);
}

int wrap_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until)
    RANKBOX_WRAPS("pthread_rwlock_clockrdlock");
int wrap_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_rwlock_clockrdlock(lock, clock, until)
                       : lock_shared(*me, lock, __builtin_return_address(0), true);
}

int wrap_tryrdlock(pthread_rwlock_t* lock) RANKBOX_WRAPS("pthread_rwlock_tryrdlock");
int wrap_tryrdlock(pthread_rwlock_t* lock) {
  Thread* me = Control::self();
  if (me == nullptr) return pthread_rwlock_tryrdlock(lock);
  Step& step =
      me->control->step({.action = kTryLock, .place = lock, .code = __builtin_return_address(0)});
  Object& object = me->control->object(lock);
  step.gave_up = object.holder >= 0;
  if (step.gave_up) return EBUSY;
  ++object.readers;
  me->control->changed(lock);
  return 0;
}

int wrap_wrlock(pthread_rwlock_t* write) RANKBOX_WRAPS("pthread_rwlock_wrlock");
int wrap_wrlock(pthread_rwlock_t* write) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_rwlock_wrlock(write)
                       : lock(*me, write, __builtin_return_address(0), 0, false);
}

int wrap_timedwrlock(pthread_rwlock_t* write, const timespec* until)
    RANKBOX_WRAPS("pthread_rwlock_timedwrlock");
int wrap_timedwrlock(pthread_rwlock_t* write, const timespec* until) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_rwlock_timedwrlock(write, until)
                       : lock(*me, write, __builtin_return_address(0), 0, true);
}

int wrap_clockwrlock(pthread_rwlock_t* write, clockid_t clock, const timespec* until)
    RANKBOX_WRAPS("pthread_rwlock_clockwrlock");
int wrap_clockwrlock(pthread_rwlock_t* write, clockid_t clock, const timespec* until) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_rwlock_clockwrlock(write, clock, until)
                       : lock(*me, write, __builtin_return_address(0), 0, true);
}

int wrap_trywrlock(pthread_rwlock_t* write) RANKBOX_WRAPS("pthread_rwlock_trywrlock");
int wrap_trywrlock(pthread_rwlock_t* write) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_rwlock_trywrlock(write)
                       : try_lock(*me, write, __builtin_return_address(0), 0);
}

int wrap_rwlock_unlock(pthread_rwlock_t* lock) RANKBOX_WRAPS("pthread_rwlock_unlock");
int wrap_rwlock_unlock(pthread_rwlock_t* lock) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_rwlock_unlock(lock)
                       : unlock(*me, lock, __builtin_return_address(0));
}

int wrap_spin_lock(pthread_spinlock_t* spin) RANKBOX_WRAPS("pthread_spin_lock");
int wrap_spin_lock(pthread_spinlock_t* spin) {
  Thread* me = Control::self();
  if (me == nullptr) return pthread_spin_lock(spin);
  return lock(*me, const_cast<const int*>(spin), __builtin_return_address(0), 0, false);
}

int wrap_spin_trylock(pthread_spinlock_t* spin) RANKBOX_WRAPS("pthread_spin_trylock");
int wrap_spin_trylock(pthread_spinlock_t* spin) {
  Thread* me = Control::self();
  if (me == nullptr) return pthread_spin_trylock(spin);
  return try_lock(*me, const_cast<const int*>(spin), __builtin_return_address(0), 0);
}

int wrap_spin_unlock(pthread_spinlock_t* spin) RANKBOX_WRAPS("pthread_spin_unlock");
int wrap_spin_unlock(pthread_spinlock_t* spin) {
  Thread* me = Control::self();
  if (me == nullptr) return pthread_spin_unlock(spin);
  return unlock(*me, const_cast<const int*>(spin), __builtin_return_address(0));
}

// The system's flag is 0 at first and 2 when the call was made. The lock is kept while it is made.
int wrap_once(pthread_once_t* flag, void (*call)()) RANKBOX_WRAPS("pthread_once");
int wrap_once(pthread_once_t* flag, void (*call)()) {
  Thread* me = Control::self();
  if (me == nullptr) return pthread_once(flag, call);
  const void* code = __builtin_return_address(0);
  struct Guard {  // also when the call throws, and the next thread tries again
    Thread& me;
    const void* flag;
    const void* code;
    ~Guard() { unlock(me, flag, code); }
  };
  lock(*me, flag, code, 0, false);
  const Guard guard = {*me, flag, code};
  if (*flag != 2) {
    call();
    *flag = 2;
  }
  return 0;
}

// A local static variable is made once, too.
int wrap_guard_acquire(__cxxabiv1::__guard* guard) RANKBOX_WRAPS("__cxa_guard_acquire");
int wrap_guard_acquire(__cxxabiv1::__guard* guard) {
  if (Thread* me = Control::self(); me != nullptr) {
    const void* code = __builtin_return_address(0);
    lock(*me, guard, code, 0, false);
    const int first = __cxxabiv1::__cxa_guard_acquire(guard);
    if (first == 0) unlock(*me, guard, code);
    return first;
  }
  return __cxxabiv1::__cxa_guard_acquire(guard);
}

void wrap_guard_release(__cxxabiv1::__guard* guard) RANKBOX_WRAPS("__cxa_guard_release");
void wrap_guard_release(__cxxabiv1::__guard* guard) {
  __cxxabiv1::__cxa_guard_release(guard);
  if (Thread* me = Control::self(); me != nullptr) unlock(*me, guard, __builtin_return_address(0));
}

void wrap_guard_abort(__cxxabiv1::__guard* guard) RANKBOX_WRAPS("__cxa_guard_abort");
void wrap_guard_abort(__cxxabiv1::__guard* guard) {
  __cxxabiv1::__cxa_guard_abort(guard);
  if (Thread* me = Control::self(); me != nullptr) unlock(*me, guard, __builtin_return_address(0));
}

}  // extern "C"

}  // namespace rankbox::interleave
