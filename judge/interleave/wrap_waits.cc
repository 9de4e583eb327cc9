// Condition variables, semaphores, barriers and waits on a word of memory.
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <cstdarg>
#include <cstdint>
#include <ctime>
#include <mutex>

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "judge/interleave/wrap.h"

namespace rankbox::interleave {

namespace {

using enum Action;

// Spurious wake-ups are not modelled, and the longest waiter is woken first.
void wake(Thread& me, const void* place, int most) {
  Object& object = me.control->object(place);
  for (int i = 0; i < most && !object.waiters.empty(); ++i) {
    me.control->thread(object.waiters.front()).woken = true;
    object.waiters.pop_front();
  }
}

int wait(Thread& me, const void* condition, const void* mutex, const void* code, bool timed) {
  Control& control = *me.control;
  me.woken = false;
  change(me, {.action = kWait, .place = condition, .second = mutex, .code = code});
  control.object(condition).waiters.push_back(me.number);
  control.object(mutex).holder = -1;
  const Step& step = control.step(
      {.action = kWake, .place = mutex, .second = condition, .code = code, .timed = timed});
  const bool gave_up = step.gave_up && !me.woken;
  if (gave_up) std::erase(control.object(condition).waiters, me.number);
  control.object(mutex).holder = me.number;
  control.object(mutex).depth = 1;
  control.changed(mutex);
  return gave_up ? ETIMEDOUT : 0;
}

void notify(Thread& me, const void* condition, const void* code, int most) {
  change(me, {.action = kNotify, .place = condition, .code = code});
  wake(me, condition, most);
}

int value_of(sem_t* semaphore) {
  int value = 0;
  sem_getvalue(semaphore, &value);
  return value;
}

int acquire(Thread& me, sem_t* semaphore, const void* code, bool timed) {
  Object& object = me.control->object(semaphore);
  object.depth = value_of(semaphore);
  const Step& step = me.control->step({.action = kAcquire,
                                       .place = semaphore,
                                       .code = code,
                                       .timed = timed,
                                       .commutes = object.depth > 1});
  if (step.gave_up) {
    errno = ETIMEDOUT;
    return -1;
  }
  sem_trywait(semaphore);
  object.depth = value_of(semaphore);
  me.control->changed(semaphore);
  return 0;
}

/// A futex, which std::atomic waits on. Returns whether the call was one that is known here.
bool futex(Thread& me, long* result, const void* code, std::uint32_t* word, int operation,
           std::uint32_t value, bool timed) {
  const int command = operation & FUTEX_CMD_MASK;
  if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) {
    me.woken = false;
    change(me, {.action = kSleep, .place = word, .code = code});
    *result = 0;
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
      errno = EAGAIN;
      *result = -1;
      return true;
    }
    me.control->object(word).waiters.push_back(me.number);
    const Step& step =
        me.control->step({.action = kWoken, .place = word, .code = code, .timed = timed});
    if (step.gave_up && !me.woken) {
      std::erase(me.control->object(word).waiters, me.number);
      errno = ETIMEDOUT;
      *result = -1;
    }
    me.control->changed(word);
    return true;
  }
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    change(me, {.action = kRouse, .place = word, .code = code});
    const auto before = static_cast<long>(me.control->object(word).waiters.size());
    wake(me, word, value > INT_MAX ? INT_MAX : static_cast<int>(value));
    *result = before - static_cast<long>(me.control->object(word).waiters.size());
    return true;
  }
  return false;
}

/// Returns false if the wait of a std::future for a change of its word gave up.
bool wait_for_word(Thread& me, std::uint32_t* word, std::uint32_t value, bool timed,
                   const void* code) {
  long result = 0;
  futex(me, &result, code, word, FUTEX_WAIT, value, timed);
  return result == 0 || errno != ETIMEDOUT;
}

}  // namespace

extern "C" {

int wrap_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex)
    RANKBOX_WRAPS("pthread_cond_wait");
int wrap_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_cond_wait(condition, mutex)
                       : wait(*me, condition, mutex, __builtin_return_address(0), false);
}

int wrap_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until)
    RANKBOX_WRAPS("pthread_cond_timedwait");
int wrap_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_cond_timedwait(condition, mutex, until)
                       : wait(*me, condition, mutex, __builtin_return_address(0), true);
}

int wrap_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                        const timespec* until) RANKBOX_WRAPS("pthread_cond_clockwait");
int wrap_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                        const timespec* until) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_cond_clockwait(condition, mutex, clock, until)
                       : wait(*me, condition, mutex, __builtin_return_address(0), true);
}

int wrap_cond_signal(pthread_cond_t* condition) RANKBOX_WRAPS("pthread_cond_signal");
int wrap_cond_signal(pthread_cond_t* condition) {
  Thread* me = Control::self();
  if (me == nullptr) return pthread_cond_signal(condition);
  notify(*me, condition, __builtin_return_address(0), 1);
  return 0;
}

int wrap_cond_broadcast(pthread_cond_t* condition) RANKBOX_WRAPS("pthread_cond_broadcast");
int wrap_cond_broadcast(pthread_cond_t* condition) {
  Thread* me = Control::self();
  if (me == nullptr) return pthread_cond_broadcast(condition);
  notify(*me, condition, __builtin_return_address(0), INT_MAX);
  return 0;
}

void wrap_condition_wait(std::condition_variable* condition, std::unique_lock<std::mutex>* lock)
    RANKBOX_WRAPS("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void wrap_condition_wait(std::condition_variable* condition, std::unique_lock<std::mutex>* lock) {
  Thread* me = Control::self();
  if (me == nullptr) return condition->wait(*lock);
  wait(*me, condition->native_handle(), lock->mutex()->native_handle(), __builtin_return_address(0),
       false);
}

void wrap_notify_one(std::condition_variable* condition)
    RANKBOX_WRAPS("_ZNSt18condition_variable10notify_oneEv");
void wrap_notify_one(std::condition_variable* condition) {
  Thread* me = Control::self();
  if (me == nullptr) return condition->notify_one();
  notify(*me, condition->native_handle(), __builtin_return_address(0), 1);
}

void wrap_notify_all(std::condition_variable* condition)
    RANKBOX_WRAPS("_ZNSt18condition_variable10notify_allEv");
void wrap_notify_all(std::condition_variable* condition) {
  Thread* me = Control::self();
  if (me == nullptr) return condition->notify_all();
  notify(*me, condition->native_handle(), __builtin_return_address(0), INT_MAX);
}

int wrap_sem_wait(sem_t* semaphore) RANKBOX_WRAPS("sem_wait");
int wrap_sem_wait(sem_t* semaphore) {
  Thread* me = Control::self();
  return me == nullptr ? sem_wait(semaphore)
                       : acquire(*me, semaphore, __builtin_return_address(0), false);
}

int wrap_sem_timedwait(sem_t* semaphore, const timespec* until) RANKBOX_WRAPS("sem_timedwait");
int wrap_sem_timedwait(sem_t* semaphore, const timespec* until) {
  Thread* me = Control::self();
  return me == nullptr ? sem_timedwait(semaphore, until)
                       : acquire(*me, semaphore, __builtin_return_address(0), true);
}

int wrap_sem_trywait(sem_t* semaphore) RANKBOX_WRAPS("sem_trywait");
int wrap_sem_trywait(sem_t* semaphore) {
  Thread* me = Control::self();
  if (me == nullptr) return sem_trywait(semaphore);
  Step& step = me->control->step(
      {.action = kTryLock, .place = semaphore, .code = __builtin_return_address(0)});
  step.gave_up = sem_trywait(semaphore) != 0;
  me->control->object(semaphore).depth = value_of(semaphore);
  if (!step.gave_up) {
    me->control->changed(semaphore);
    return 0;
  }
  errno = EAGAIN;
  return -1;
}

int wrap_sem_post(sem_t* semaphore) RANKBOX_WRAPS("sem_post");
int wrap_sem_post(sem_t* semaphore) {
  Thread* me = Control::self();
  if (me == nullptr) return sem_post(semaphore);
  change(*me, {.action = kRelease,
               .place = semaphore,
               .code = __builtin_return_address(0),
               .commutes = true});
  const int error = sem_post(semaphore);
  me->control->object(semaphore).depth = value_of(semaphore);
  return error;
}

int wrap_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                      unsigned count) RANKBOX_WRAPS("pthread_barrier_init");
int wrap_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                      unsigned count) {
  if (Thread* me = Control::self(); me != nullptr) {
    me->control->object(barrier).arrived = 0;
    me->control->object(barrier).expected = static_cast<int>(count);
  }
  return pthread_barrier_init(barrier, attributes, count);
}

int wrap_barrier_wait(pthread_barrier_t* barrier) RANKBOX_WRAPS("pthread_barrier_wait");
int wrap_barrier_wait(pthread_barrier_t* barrier) {
  Thread* me = Control::self();
  if (me == nullptr) return pthread_barrier_wait(barrier);
  const void* code = __builtin_return_address(0);
  // Only the last arrival changes the version, which the others wait for.
  me->control->step({.action = kArrive, .place = barrier, .code = code});
  Object& object = me->control->object(barrier);
  me->generation = object.version;
  if (++object.arrived == object.expected) {
    object.arrived = 0;
    me->control->changed(barrier);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  object.clock.join(me->clock);
  me->clock.set(me->number, me->clock.of(me->number) + 1);
  me->control->step({.action = kLeave, .place = barrier, .code = code});
  return 0;
}

long wrap_syscall(long number, ...) RANKBOX_WRAPS("syscall");
long wrap_syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long argument[6];
  for (long& each : argument) each = va_arg(list, long);
  va_end(list);
  Thread* me = Control::self();
  long result = 0;
  if (me != nullptr && number == SYS_futex) {
    auto* word =
        reinterpret_cast<std::uint32_t*>(argument[0]);  // NOLINT(performance-no-int-to-ptr)
    if (futex(*me, &result, __builtin_return_address(0), word, static_cast<int>(argument[1]),
              static_cast<std::uint32_t>(argument[2]), argument[3] != 0))
      return result;
  }
  if (me != nullptr && number == SYS_sched_yield) {
    me->control->step({.action = kYield, .code = __builtin_return_address(0)});
    return 0;
  }
  return syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                 argument[5]);
}

// std::future waits on a word, in functions of the C++ library.

bool real_future_wait(void* self, std::uint32_t* word, std::uint32_t value, bool has_timeout, std::int64_t seconds, std::int64_t nanoseconds) __asm__(
    "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5"
    "ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE");
bool wrap_future_wait(void* self, std::uint32_t* word, std::uint32_t value, bool has_timeout,
                      std::int64_t seconds, std::int64_t nanoseconds)
    RANKBOX_WRAPS(
        "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5"
        "ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE");
bool wrap_future_wait(void* self, std::uint32_t* word, std::uint32_t value, bool has_timeout,
                      std::int64_t seconds, std::int64_t nanoseconds) {
  Thread* me = Control::self();
  return me == nullptr ? real_future_wait(self, word, value, has_timeout, seconds, nanoseconds)
                       : wait_for_word(*me, word, value, has_timeout, __builtin_return_address(0));
}

bool real_future_wait_steady(void* self, std::uint32_t* word, std::uint32_t value, bool has_timeout, std::int64_t seconds, std::int64_t nanoseconds) __asm__(
    "_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt"
    "5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE");
bool wrap_future_wait_steady(void* self, std::uint32_t* word, std::uint32_t value, bool has_timeout,
                             std::int64_t seconds, std::int64_t nanoseconds)
    RANKBOX_WRAPS(
        "_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_"
        "steadyEPjjbNSt6chrono8durationIlSt"
        "5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE");
bool wrap_future_wait_steady(void* self, std::uint32_t* word, std::uint32_t value, bool has_timeout,
                             std::int64_t seconds, std::int64_t nanoseconds) {
  Thread* me = Control::self();
  return me == nullptr
             ? real_future_wait_steady(self, word, value, has_timeout, seconds, nanoseconds)
             : wait_for_word(*me, word, value, has_timeout, __builtin_return_address(0));
}

void real_future_notify(std::uint32_t* word) __asm__(
    "_ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj");
void wrap_future_notify(std::uint32_t* word)
    RANKBOX_WRAPS("_ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj");
void wrap_future_notify(std::uint32_t* word) {
  Thread* me = Control::self();
  if (me == nullptr) return real_future_notify(word);
  long result = 0;
  futex(*me, &result, __builtin_return_address(0), word, FUTEX_WAKE, INT_MAX, false);
}

}  // extern "C"

}  // namespace rankbox::interleave
