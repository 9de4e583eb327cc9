#include "judge/interleave/control.h"

#include <cstddef>
#include <mutex>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <sys/single_threaded.h>

#include "comm/errors.h"

namespace rankbox::interleave {

namespace {

thread_local Thread* this_thread = nullptr;

/// A loop that waits for a change which no thread will make goes around this often before it is
/// called a livelock: it may give up by itself.
constexpr int kMostForced = 1000;

/// A loop over a plain variable that is not known to be shared becomes visible after this many.
constexpr int kMostQuietReads = 5000;

/// Ends a fiber from within the functions that it calls, as pthread_exit does.
struct ThreadExit {};

}  // namespace

Thread* Control::self() { return this_thread; }

Execution Control::run(const Program& program) {
  program_ = program;
  // The C++ library passes the argument of call_once in these.
  options_.locals.push_back(reinterpret_cast<std::uint64_t*>(&std::__once_callable));
  options_.locals.push_back(reinterpret_cast<std::uint64_t*>(&std::__once_call));
  // Otherwise shared_ptr counts without atomics, where the process has one thread.
  __libc_single_threaded = 0;
  Thread* caller = this_thread;
  this_thread = nullptr;
  pthread_t handle = {};
  const int error = start_thread(&handle, nullptr, [this]() -> void* {
    try {
      program_.body();
    } catch (const std::exception&) {
      result_.thrown = std::current_exception();
    } catch (const ThreadExit&) {
      result_.problem = "pthread_exit ended the thread of the function itself, which never returns";
      return nullptr;
    }
    if (result_.thrown == nullptr) result_.problem = program_.judge();
    return nullptr;
  });
  if (error != 0) throw Error("cannot start a thread: " + std::generic_category().message(error));
  Thread* first = choose(*threads_.front());
  this_thread = options_.real_threads ? nullptr : first;
  explorer_.switch_to(first->carrier, options_.locals, false);
  this_thread = caller;
  if (!options_.real_threads || result_.ending != Ending::kDone) return std::move(result_);
  for (const std::unique_ptr<Thread>& thread : threads_) {
    if (thread->number == 0) {
      pthread_join(thread->handle, nullptr);
    } else if (!thread->joined) {
      pthread_detach(thread->handle);
    }
  }
  return std::move(result_);
}

int Control::start_thread(pthread_t* handle, const pthread_attr_t* attributes,
                          std::function<void*()> routine) {
  auto thread = std::make_unique<Thread>();
  thread->control = this;
  thread->number = static_cast<int>(threads_.size());
  thread->routine = std::move(routine);
  if (Thread* creator = self()) {
    thread->clock = creator->clock;
    creator->clock.set(creator->number, creator->clock.of(creator->number) + 1);
  }
  thread->clock.set(thread->number, 1);
  thread->created = result_.length - 1;
  const auto entry = [](void* argument) {
    auto& me = *static_cast<Thread*>(argument);
    this_thread = &me;
    me.control->run_thread(me);
  };
  const int error = options_.real_threads
                        ? thread->carrier.start_thread(entry, thread.get(), attributes)
                        : thread->carrier.start_fiber(entry, thread.get());
  if (error != 0) return error;
  // The same in every execution: std::barrier takes places by the hashes of these.
  constexpr pthread_t kStep = 4096;
  thread->handle = options_.real_threads ? thread->carrier.handle()
                                         : kStep * static_cast<pthread_t>(thread->number + 1);
  *handle = thread->handle;
  threads_.push_back(std::move(thread));
  moment_.polling.push_back(false);
  moment_.next.push_back(&threads_.back()->next);
  return 0;
}

// An exception that leaves a thread ends the program, as it does without control.
void Control::run_thread(Thread& me) noexcept {
  follow(me, me.next);
  try {
    me.result = me.routine();
  } catch (const ThreadExit&) {
  }
  me.routine = nullptr;
  end(me);
}

void Control::end(Thread& me) {
  step({.action = Action::kEnd, .place = &me});
  changed(&me);
  me.ended = true;
  moment_.next[static_cast<std::size_t>(me.number)] = nullptr;
  Thread* next = choose(me);
  this_thread = options_.real_threads ? nullptr : next;
  me.carrier.switch_to(next == nullptr ? explorer_ : next->carrier, options_.locals, true);
}

void Control::exit_thread(void* result) {
  self()->result = result;
  throw ThreadExit();
}

int Control::join_ended(Thread& thread, void** result) {
  thread.joined = true;
  if (result != nullptr) *result = thread.result;
  return options_.real_threads ? pthread_join(thread.handle, nullptr) : 0;
}

void Control::detach(Thread& thread) {
  thread.joined = true;
  if (options_.real_threads) pthread_detach(thread.handle);
}

Thread* Control::thread_of(pthread_t handle) {
  for (auto thread = threads_.rbegin(); thread != threads_.rend(); ++thread) {
    if (!(*thread)->joined && pthread_equal((*thread)->handle, handle) != 0) return thread->get();
  }
  return nullptr;
}

Object& Control::object(const void* place) { return objects_.try_emplace(place).first->second; }

std::int64_t Control::number_of(Object& object, std::string_view noun) {
  std::int64_t& number = object.numbers[noun];
  return number > 0 ? number : (number = ++numbers_[noun]);
}

void Control::changed(const void* place) {
  Object& changed = object(place);
  ++changed.version;
  Thread& me = *self();
  me.polls.clear();
  const bool is_shared = last_.operation.action == Action::kLockShared ||
                         last_.operation.action == Action::kUnlockShared;
  (is_shared ? changed.shared : changed.clock).join(me.clock);
  me.clock.set(me.number, me.clock.of(me.number) + 1);
}

bool Control::is_free(const Thread& thread) {
  using enum Action;
  switch (thread.next.action) {
    case kLock: {
      const Object& lock = *thread.on;
      return lock.holder < 0 && lock.readers == 0;
    }
    case kLockShared:
      return thread.on->holder < 0;
    case kWake: {
      const Object& mutex = *thread.on;
      return (thread.woken || thread.gave_up) && mutex.holder < 0 && mutex.readers == 0;
    }
    case kAcquire:
      return thread.on->depth > 0;
    case kLeave:
      return thread.on->version != thread.generation;
    case kWoken:
      return thread.woken;
    case kJoin:
      return thread.target->ended;
    default:
      return true;
  }
}

bool Control::still_repeats(const Thread& thread) {
  for (const Thread::Poll& poll : thread.polls) {
    if (poll.place->version != poll.version) return false;
  }
  return true;
}

Thread* Control::choose(const Thread& me) {
  moment_.ready.clear();
  for (const std::unique_ptr<Thread>& thread : threads_) {
    if (thread->ended) continue;
    const bool polling = thread->repeats && still_repeats(*thread);
    moment_.polling[static_cast<std::size_t>(thread->number)] = polling;
    if (!polling && (thread->gave_up || is_free(*thread))) moment_.ready.push_back(thread->number);
  }
  if (moment_.ready.empty()) {
    Thread* forced = choose_forced();
    if (forced == nullptr) return nullptr;
    moment_.ready.push_back(forced->number);
  } else {
    forced_ = 0;
  }
  if (result_.length > options_.most_steps) {
    stop(Ending::kCut, "");
    return nullptr;
  }
  moment_.current = me.number;
  moment_.steps = result_.length;
  moment_.last = result_.length > 0 ? &last_ : nullptr;
  return threads_[static_cast<std::size_t>(strategy_.choose(moment_))].get();
}

bool Control::can_give_up(const Thread& thread) {
  if (!thread.next.timed) return false;
  if (thread.next.action != Action::kWake) return true;
  const Object& mutex = object(thread.next.place);  // which it needs again
  return mutex.holder < 0 && mutex.readers == 0;
}

// No thread is ready. A wait with a time limit gives up; a loop that polls goes around once more.
Thread* Control::choose_forced() {
  Thread* polling = nullptr;
  bool is_over = true;
  for (const std::unique_ptr<Thread>& thread : threads_) {
    if (thread->ended) continue;
    is_over = false;
    if (can_give_up(*thread)) {
      thread->gave_up = true;
      return thread.get();
    }
    const bool can_go_on =
        moment_.polling[static_cast<std::size_t>(thread->number)] && is_free(*thread);
    if (can_go_on && (polling == nullptr || thread->forced < polling->forced))
      polling = thread.get();
  }
  if (is_over) {
    stop(Ending::kDone, result_.problem);
    return nullptr;
  }
  if (polling == nullptr) {
    stop(Ending::kDeadlock, who_waits());
    return nullptr;
  }
  if (++forced_ > kMostForced) {
    // What led there is enough to see it.
    result_.schedule.resize(first_forced_);
    if (options_.record) result_.steps.resize(first_forced_);
    stop(Ending::kLivelock, who_waits());
    return nullptr;
  }
  if (forced_ == 1) first_forced_ = result_.schedule.size();
  ++polling->forced;
  return polling;
}

std::string Control::what_it_waits_for(const Thread& thread) {
  using enum Action;
  const Operation& next = thread.next;
  const auto name = [this](const char* kind, const void* place) {
    return std::string(kind) + " " + std::to_string(number_of(object(place), kind));
  };
  if (next.place == nullptr) return "";
  switch (next.action) {
    case kLock:
    case kLockShared: {
      const int holder = object(next.place).holder;
      const std::string lock = "waits for " + name("lock", next.place);
      if (holder == thread.number) return lock + ", which it holds itself";
      if (holder < 0) return lock + ", which readers hold";
      return lock + ", which thread " + std::to_string(holder) +
             (threads_[static_cast<std::size_t>(holder)]->ended ? " held when it ended" : " holds");
    }
    case kWake:
      return "waits for a notification of " + name("condition", next.second);
    case kAcquire:
      return "waits for " + name("semaphore", next.place) + ", which is 0";
    case kLeave: {
      const Object& barrier = object(next.place);
      return "waits at " + name("barrier", next.place) + ", where " +
             std::to_string(barrier.arrived) + " of " + std::to_string(barrier.expected) +
             " have arrived";
    }
    case kWoken:
      return "waits to be woken from an atomic wait";
    case kJoin:
      return "waits for the end of thread " + std::to_string(thread.target->number);
    default:
      return thread.repeats ? "waits in a loop for a change that no thread makes" : "goes on";
  }
}

std::string Control::who_waits() {
  std::string text;
  for (const std::unique_ptr<Thread>& thread : threads_) {
    if (thread->ended) continue;
    const std::string wait = what_it_waits_for(*thread);
    if (wait.empty()) continue;
    text += (text.empty() ? "thread " : "; thread ") + std::to_string(thread->number) +
            (thread->number == 0 ? " (the function itself) " : " ") + wait;
  }
  return text;
}

void Control::stop(Ending ending, const std::string& problem) {
  if (options_.record && result_.steps.size() < result_.schedule.size())
    result_.steps.push_back(last_);
  result_.ending = ending;
  result_.problem = problem;
}

// Without a next thread this one never goes on.
void Control::pass_on(Thread* next, Thread& me) {
  if (next == &me) return;
  if (!options_.real_threads) this_thread = next;
  me.carrier.switch_to(next == nullptr ? explorer_ : next->carrier, options_.locals, false);
}

Step& Control::step(const Operation& operation) {
  Thread& me = *self();
  me.next = operation;
  me.on = operation.place == nullptr ? nullptr : &object(operation.place);
  me.repeats = false;
  if (polls(operation.action)) {
    for (const Thread::Poll& poll : me.polls)
      me.repeats = me.repeats || (poll.code == operation.code && poll.place == me.on);
  }
  pass_on(choose(me), me);
  if (me.repeats) me.polls.clear();
  me.repeats = false;
  me.quiet_reads = 0;
  follow(me, operation);
  me.gave_up = false;
  if (polls(operation.action)) me.polls.push_back({operation.code, me.on, me.on->version});
  return last_;
}

// Records the operation that is about to be carried out, and what happened before it.
void Control::follow(Thread& me, const Operation& operation) {
  if (options_.record && result_.length > 0) result_.steps.push_back(last_);
  last_ = {.thread = me.number, .operation = operation, .gave_up = me.gave_up};
  for (const void* place : {operation.second, operation.place}) {
    if (place == nullptr) continue;
    Object& used = object(place);
    // Of several units of a semaphore, it is not known who released this one.
    if (operation.action == Action::kAcquire) last_.operation.commutes = used.depth > 1;
    if (learns(operation.action) && !last_.operation.commutes) me.clock.join(used.clock);
    if (learns(operation.action) && changes(operation.action)) me.clock.join(used.shared);
    std::string_view noun = noun_of(operation.action);
    if (operation.action == Action::kTryLock)  // of a semaphore, if it was used as one
      noun = used.numbers.contains("semaphore") ? "semaphore" : "lock";
    if (place == operation.place && !noun.empty()) last_.number = number_of(used, noun);
  }
  if (operation.action == Action::kJoin) last_.number = me.target->number;
  if (operation.action == Action::kStart) last_.number = me.created;
  moment_.run = moment_.current == me.number ? moment_.run + 1 : 1;
  result_.schedule.push_back(me.number);
  ++result_.length;
}

void Control::plain_access(const void* place, const void* code, bool writes) {
  for (const std::uint64_t* local : options_.locals) {
    if (place == local) return;
  }
  Thread& me = *self();
  const Access access = {me.number, me.clock.of(me.number), code};
  if (!places_.contains(code)) {
    Shadow& shadow = shadows_[place];
    const auto check = [&](const Access& other) {
      if (other.thread < 0 || other.thread == me.number) return;
      if (other.count <= me.clock.of(other.thread)) return;
      places_.add(other.code);
      places_.add(code);
    };
    check(shadow.write);
    if (writes) {
      for (const Access& read : shadow.reads) check(read);
      shadow.reads.clear();
      shadow.write = access;
    } else {
      std::erase_if(shadow.reads, [&](const Access& read) { return read.thread == me.number; });
      shadow.reads.push_back(access);
      if (++me.quiet_reads > kMostQuietReads) places_.add(code);
    }
  }
  if (!places_.contains(code)) return;
  step({.action = writes ? Action::kWrite : Action::kRead, .place = place, .code = code});
  if (writes) changed(place);
}

}  // namespace rankbox::interleave
