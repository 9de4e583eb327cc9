// Threads, yields and sleeps; and SharedValue.
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "judge/interleave/wrap.h"

namespace rankbox::interleave {

namespace {

using enum Action;

int join(Thread& me, pthread_t handle, void** result, const void* code, bool timed) {
  Thread* target = me.control->thread_of(handle);
  if (target == nullptr || target == &me) return target == nullptr ? ESRCH : EDEADLK;
  me.target = target;
  const Step& step =
      me.control->step({.action = kJoin, .place = target, .code = code, .timed = timed});
  if (step.gave_up) return ETIMEDOUT;
  me.polls.clear();
  return me.control->join_ended(*target, result);
}

int detach(Thread& me, pthread_t handle) {
  Thread* target = me.control->thread_of(handle);
  if (target == nullptr) return ESRCH;
  me.control->detach(*target);
  return 0;
}

void pause(Thread& me, const void* code) { me.control->step({.action = kYield, .code = code}); }

}  // namespace

extern "C" {

int wrap_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*routine)(void*),
                void* argument) RANKBOX_WRAPS("pthread_create");
int wrap_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*routine)(void*),
                void* argument) {
  Thread* me = Control::self();
  if (me == nullptr) return pthread_create(handle, attributes, routine, argument);
  return me->control->start_thread(handle, attributes,
                                   [routine, argument] { return routine(argument); });
}

int wrap_join(pthread_t handle, void** result) RANKBOX_WRAPS("pthread_join");
int wrap_join(pthread_t handle, void** result) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_join(handle, result)
                       : join(*me, handle, result, __builtin_return_address(0), false);
}

int wrap_detach(pthread_t handle) RANKBOX_WRAPS("pthread_detach");
int wrap_detach(pthread_t handle) {
  Thread* me = Control::self();
  return me == nullptr ? pthread_detach(handle) : detach(*me, handle);
}

pthread_t wrap_self() RANKBOX_WRAPS("pthread_self");
pthread_t wrap_self() {
  Thread* me = Control::self();
  return me == nullptr ? pthread_self() : me->handle;
}

void wrap_exit(void* result) RANKBOX_WRAPS("pthread_exit");
void wrap_exit(void* result) {
  Thread* me = Control::self();
  if (me == nullptr) pthread_exit(result);
  me->control->exit_thread(result);
}

// std::thread is no more than its handle. Its state is passed by the address of a unique_ptr.
using State = std::unique_ptr<std::thread::_State>;

void real_start(std::thread* thread, State* state, void (*depend)()) __asm__(
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE");
void wrap_start(std::thread* thread, State* state, void (*depend)()) RANKBOX_WRAPS(
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE");
void wrap_start(std::thread* thread, State* state, void (*depend)()) {
  Thread* me = Control::self();
  if (me == nullptr) return real_start(thread, state, depend);
  std::shared_ptr<std::thread::_State> kept(state->release());
  const int error = me->control->start_thread(reinterpret_cast<pthread_t*>(thread), nullptr,
                                              [kept]() mutable -> void* {
                                                const auto own = std::move(kept);
                                                own->_M_run();
                                                return nullptr;
                                              });
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start a thread");
}

void wrap_std_join(std::thread* thread) RANKBOX_WRAPS("_ZNSt6thread4joinEv");
void wrap_std_join(std::thread* thread) {
  Thread* me = Control::self();
  if (me == nullptr || !thread->joinable()) return thread->join();
  const int error = join(*me, thread->native_handle(), nullptr, __builtin_return_address(0), false);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot join a thread");
  new (thread) std::thread;
}

void wrap_std_detach(std::thread* thread) RANKBOX_WRAPS("_ZNSt6thread6detachEv");
void wrap_std_detach(std::thread* thread) {
  Thread* me = Control::self();
  if (me == nullptr || !thread->joinable()) return thread->detach();
  detach(*me, thread->native_handle());
  new (thread) std::thread;
}

int wrap_yield() RANKBOX_WRAPS("sched_yield");
int wrap_yield() {
  Thread* me = Control::self();
  if (me == nullptr) return sched_yield();
  pause(*me, __builtin_return_address(0));
  return 0;
}

int wrap_nanosleep(const timespec* time, timespec* left) RANKBOX_WRAPS("nanosleep");
int wrap_nanosleep(const timespec* time, timespec* left) {
  Thread* me = Control::self();
  if (me == nullptr) return nanosleep(time, left);
  pause(*me, __builtin_return_address(0));
  return 0;
}

int wrap_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left)
    RANKBOX_WRAPS("clock_nanosleep");
int wrap_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  Thread* me = Control::self();
  if (me == nullptr) return clock_nanosleep(clock, flags, time, left);
  pause(*me, __builtin_return_address(0));
  return 0;
}

int wrap_usleep(useconds_t time) RANKBOX_WRAPS("usleep");
int wrap_usleep(useconds_t time) {
  Thread* me = Control::self();
  if (me == nullptr) return usleep(time);
  pause(*me, __builtin_return_address(0));
  return 0;
}

unsigned wrap_sleep(unsigned time) RANKBOX_WRAPS("sleep");
unsigned wrap_sleep(unsigned time) {
  Thread* me = Control::self();
  if (me == nullptr) return sleep(time);
  pause(*me, __builtin_return_address(0));
  return 0;
}

// Declared by their names, since the value may lie in another process (judge/seal/).
std::int64_t real_load(void* value) __asm__("_ZN7rankbox11SharedValue4loadEv");
std::int64_t wrap_load(void* value) RANKBOX_WRAPS("_ZN7rankbox11SharedValue4loadEv");
std::int64_t wrap_load(void* value) {
  Thread* me = Control::self();
  if (me == nullptr) return real_load(value);
  Step& step =
      me->control->step({.action = kLoad, .place = value, .code = __builtin_return_address(0)});
  step.before = step.after = real_load(value);
  return step.after;
}

void real_store(void* value, std::int64_t number) __asm__("_ZN7rankbox11SharedValue5storeEl");
void wrap_store(void* value, std::int64_t number) RANKBOX_WRAPS("_ZN7rankbox11SharedValue5storeEl");
void wrap_store(void* value, std::int64_t number) {
  Thread* me = Control::self();
  if (me == nullptr) return real_store(value, number);
  Step& step = change(*me, {.action = kStore, .place = value, .code = __builtin_return_address(0)});
  step.after = number;
  real_store(value, number);
}

}  // extern "C"

}  // namespace rankbox::interleave
