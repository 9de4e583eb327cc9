// Small programs with threads, right and wrong ones, each a function of a library.
//
// explore_test judges them. Each adds 1 to `value` twice, in two threads, unless it says otherwise;
// a program is wrong if the value can be another one at its end.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <pthread.h>
#include <semaphore.h>

#include "interleave/programs_for_test.h"

namespace {

long value = 0;

void twice(const auto& work) {
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
}

// Not in one instruction, which would be no race on one processor.
void add() {
  const long before = value;
  value = before + 1;
}

void lost_update() { twice(add); }

void with_mutex() {
  std::mutex mutex;
  twice([&] {
    const std::lock_guard lock(mutex);
    add();
  });
}

void other_mutexes() {
  std::mutex mutexes[2];
  std::atomic<int> next = 0;
  twice([&] {
    const std::lock_guard lock(mutexes[next++]);
    add();
  });
}

void guard_is_temporary() {
  std::mutex mutex;
  twice([&] {
    std::lock_guard<std::mutex>{mutex};
    add();
  });
}

void recursive_mutex() {
  std::recursive_mutex mutex;
  twice([&] {
    const std::lock_guard outer(mutex);
    const std::lock_guard inner(mutex);
    add();
  });
}

void locked_twice() {
  std::mutex mutex;
  twice([&] {
    mutex.lock();
    mutex.lock();
    add();
  });
}

void two_orders() {
  std::mutex a;
  std::mutex b;
  std::thread first([&] {
    const std::lock_guard one(a);
    const std::lock_guard two(b);
    add();
  });
  std::thread second([&] {
    const std::lock_guard one(b);
    const std::lock_guard two(a);
    add();
  });
  first.join();
  second.join();
}

void scoped_lock_of_two() {
  std::mutex a;
  std::mutex b;
  std::thread first([&] {
    const std::scoped_lock both(a, b);
    add();
  });
  std::thread second([&] {
    const std::scoped_lock both(b, a);
    add();
  });
  first.join();
  second.join();
}

void compare_and_swap() {
  std::atomic<long> sum = 0;
  twice([&] {
    long before = sum.load();
    while (!sum.compare_exchange_weak(before, before + 1)) {
    }
  });
  value = sum;
}

void fetch_add() {
  std::atomic<long> sum = 0;
  twice([&] { ++sum; });
  value = sum;
}

void atomic_but_two_steps() {
  std::atomic<long> sum = 0;
  twice([&] { sum = sum + 1; });
  value = sum;
}

void spin_lock() {
  std::atomic_flag busy;
  twice([&] {
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
    add();
    busy.clear(std::memory_order_release);
  });
}

void spin_lock_that_yields() {
  std::atomic<bool> busy = false;
  twice([&] {
    while (busy.exchange(true)) std::this_thread::yield();
    add();
    busy = false;
  });
}

void broken_spin_lock() {
  std::atomic<bool> busy = false;
  twice([&] {
    while (busy) std::this_thread::yield();
    busy = true;
    add();
    busy = false;
  });
}

void plain_flag() {
  static volatile bool busy;
  busy = false;
  twice([] {
    while (busy) {
    }
    busy = true;
    add();
    busy = false;
  });
}

void ticket_lock() {
  std::atomic<int> next = 0;
  std::atomic<int> served = 0;
  twice([&] {
    const int mine = next++;
    while (served != mine) {
    }
    add();
    ++served;
  });
}

void peterson(bool sets_turn) {
  static std::atomic<bool> wants[2];
  static std::atomic<int> turn;
  wants[0] = wants[1] = false;
  turn = 0;
  const auto work = [sets_turn](int me) {
    wants[me] = true;
    if (sets_turn) turn = 1 - me;
    while (wants[1 - me] && turn == 1 - me) {
    }
    add();
    wants[me] = false;
  };
  std::thread first(work, 0);
  std::thread second(work, 1);
  first.join();
  second.join();
}

void peterson_right() { peterson(true); }
void peterson_without_turn() { peterson(false); }

void double_checked() {
  static std::atomic<bool> is_made;
  is_made = false;
  std::mutex mutex;
  twice([&] {
    if (is_made) return;
    const std::lock_guard lock(mutex);
    if (is_made) return;
    value += 2;
    is_made = true;
  });
}

void checked_once() {
  static std::atomic<bool> is_made;
  is_made = false;
  std::mutex mutex;
  twice([&] {
    if (is_made) return;
    const std::lock_guard lock(mutex);
    value += 2;
    is_made = true;
  });
}

void call_once() {
  std::once_flag once;
  twice([&] { std::call_once(once, [] { value += 2; }); });
}

void local_static() {
  const auto made = [] {
    static std::atomic<int> once = 2;
    return once.load();
  };
  twice([&] { made(); });
  value = made();
}

void condition() {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  const auto work = [&](int me) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return turn == me; });
    add();
    ++turn;
    changed.notify_all();
  };
  std::thread second(work, 1);
  std::thread first(work, 0);
  first.join();
  second.join();
}

void lost_wake_up() {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  std::thread waits([&] {
    std::unique_lock lock(mutex);
    if (!ready) {
      lock.unlock();
      lock.lock();
      changed.wait(lock);
    }
    value += 2;
  });
  std::thread notifies([&] {
    const std::lock_guard lock(mutex);
    ready = true;
    changed.notify_one();
  });
  waits.join();
  notifies.join();
}

void waits_some_time() {
  std::mutex mutex;
  std::condition_variable changed;
  twice([&] {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::hours(1));
    add();
  });
}

void posix_semaphore(unsigned count) {
  sem_t free;
  sem_init(&free, 0, count);
  twice([&] {
    sem_wait(&free);
    add();
    sem_post(&free);
  });
  sem_destroy(&free);
}

void semaphore_of_one() { posix_semaphore(1); }
void semaphore_of_two() { posix_semaphore(2); }
void semaphore_of_none() { posix_semaphore(0); }

void standard_semaphore() {
  std::binary_semaphore free(1);
  twice([&] {
    free.acquire();
    add();
    free.release();
  });
}

void barrier() {
  std::barrier together(2);
  const auto work = [&](bool first) {
    if (first) add();
    together.arrive_and_wait();
    if (!first) add();
  };
  std::thread first(work, true);
  std::thread second(work, false);
  first.join();
  second.join();
}

void posix_barrier() {
  pthread_barrier_t together;
  pthread_barrier_init(&together, nullptr, 2);
  const auto work = [&](bool first) {
    if (first) add();
    pthread_barrier_wait(&together);
    if (!first) add();
  };
  std::thread first(work, true);
  std::thread second(work, false);
  first.join();
  second.join();
  pthread_barrier_destroy(&together);
}

void barrier_before_both() {
  pthread_barrier_t together;
  pthread_barrier_init(&together, nullptr, 2);
  twice([&] {
    pthread_barrier_wait(&together);
    add();
  });
  pthread_barrier_destroy(&together);
}

void latch() {
  std::latch done(1);
  std::thread second([&] {
    done.wait();
    add();
  });
  std::thread first([&] {
    add();
    done.count_down();
  });
  first.join();
  second.join();
}

void shared_mutex_for_writers() {
  std::shared_mutex mutex;
  twice([&] {
    const std::unique_lock lock(mutex);
    add();
  });
}

void shared_mutex_for_readers() {
  std::shared_mutex mutex;
  twice([&] {
    const std::shared_lock lock(mutex);
    add();
  });
}

void future() {
  std::future<void> first = std::async(std::launch::async, add);
  first.get();
  std::future<void> second = std::async(std::launch::async, add);
  second.get();
}

void futures_at_once() {
  std::future<void> first = std::async(std::launch::async, add);
  std::future<void> second = std::async(std::launch::async, add);
  first.get();
  second.get();
}

void sleeps_between() {
  std::thread first(add);
  std::thread second([] {
    std::this_thread::sleep_for(std::chrono::hours(1));
    add();
  });
  first.join();
  second.join();
}

void one_after_the_other() {
  std::thread(add).join();
  std::thread(add).join();
}

void detached() {
  std::thread(add).detach();
  std::thread second(add);
  second.join();
}

void try_lock_loop() {
  std::mutex mutex;
  twice([&] {
    while (!mutex.try_lock()) std::this_thread::yield();
    add();
    mutex.unlock();
  });
}

void try_lock_ignored() {
  std::mutex mutex;
  twice([&] {
    const bool locked = mutex.try_lock();
    add();
    if (locked) mutex.unlock();
  });
}

void spins_for_ever() {
  std::atomic<bool> never = false;
  twice([&] {
    while (!never) {
    }
    add();
  });
}

void stop_token() {
  std::mutex mutex;
  const auto work = [&](const std::stop_token& token) {
    while (!token.stop_requested()) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    add();
  };
  std::jthread first(work);
  std::jthread second(work);
}

void shared_pointer() {
  auto mutex = std::make_shared<std::mutex>();
  twice([mutex] {
    const std::lock_guard lock(*mutex);
    add();
  });
}

void exit_of_thread() {
  pthread_t thread = {};
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        add();
        pthread_exit(nullptr);
      },
      nullptr);
  pthread_join(thread, nullptr);
  add();
}

// Only where the second thread comes between two particular steps of the third turn.
void seldom() {
  std::mutex mutex;
  std::thread first([&] {
    for (int i = 0; i < 5; ++i) {
      if (i != 2) mutex.lock();
      add();
      if (i != 2) mutex.unlock();
    }
  });
  std::thread second([&] {
    mutex.lock();
    add();
    mutex.unlock();
  });
  first.join();
  second.join();
  value -= 4;
}

void mutex_polled() {
  std::mutex mutex;
  bool ready = false;
  std::thread waits([&] {
    while (true) {
      const std::lock_guard lock(mutex);
      if (ready) break;
    }
    add();
  });
  std::thread sets([&] {
    add();
    const std::lock_guard lock(mutex);
    ready = true;
  });
  waits.join();
  sets.join();
}

constexpr ProgramForTest kPrograms[] = {
#define PROGRAM(name) {#name, name}
    PROGRAM(lost_update),
    PROGRAM(with_mutex),
    PROGRAM(other_mutexes),
    PROGRAM(guard_is_temporary),
    PROGRAM(recursive_mutex),
    PROGRAM(locked_twice),
    PROGRAM(two_orders),
    PROGRAM(scoped_lock_of_two),
    PROGRAM(compare_and_swap),
    PROGRAM(fetch_add),
    PROGRAM(atomic_but_two_steps),
    PROGRAM(spin_lock),
    PROGRAM(spin_lock_that_yields),
    PROGRAM(broken_spin_lock),
    PROGRAM(plain_flag),
    PROGRAM(ticket_lock),
    PROGRAM(peterson_right),
    PROGRAM(peterson_without_turn),
    PROGRAM(double_checked),
    PROGRAM(checked_once),
    PROGRAM(call_once),
    PROGRAM(local_static),
    PROGRAM(condition),
    PROGRAM(lost_wake_up),
    PROGRAM(waits_some_time),
    PROGRAM(semaphore_of_one),
    PROGRAM(semaphore_of_two),
    PROGRAM(semaphore_of_none),
    PROGRAM(standard_semaphore),
    PROGRAM(barrier),
    PROGRAM(posix_barrier),
    PROGRAM(barrier_before_both),
    PROGRAM(latch),
    PROGRAM(shared_mutex_for_writers),
    PROGRAM(shared_mutex_for_readers),
    PROGRAM(future),
    PROGRAM(futures_at_once),
    PROGRAM(sleeps_between),
    PROGRAM(one_after_the_other),
    PROGRAM(detached),
    PROGRAM(try_lock_loop),
    PROGRAM(try_lock_ignored),
    PROGRAM(spins_for_ever),
    PROGRAM(shared_pointer),
    PROGRAM(stop_token),
    PROGRAM(exit_of_thread),
    PROGRAM(seldom),
    PROGRAM(mutex_polled),
};

}  // namespace

extern "C" const ProgramForTest* programs_for_test(int* count) {
  *count = static_cast<int>(std::size(kPrograms));
  return kPrograms;
}

extern "C" long* value_for_test() { return &value; }
