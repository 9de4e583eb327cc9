// Small programs that wait for each other, right and wrong ones.
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
#include <stop_token>
#include <thread>
#include <vector>

#include <pthread.h>
#include <semaphore.h>

#include "judge/interleave/programs_for_test.h"

namespace {

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

void future_waits_some_time() {
  auto started = std::async(std::launch::async, [] { add(); });
  while (started.wait_for(std::chrono::seconds(1)) != std::future_status::ready) {
  }
  add();
}

/// Barriers of three threads take places by the hashes of their numbers.
void barrier_of_three() {
  std::barrier together(3);
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([&, number] {
      if (number == 1) add();
      together.arrive_and_wait();
      if (number == 2) add();
    });
  }
  for (std::thread& each : threads) each.join();
}

}  // namespace

std::vector<ProgramForTest> programs_of_waits() {
  return {
      {"double_checked", double_checked},
      {"checked_once", checked_once},
      {"call_once", call_once},
      {"local_static", local_static},
      {"condition", condition},
      {"lost_wake_up", lost_wake_up},
      {"waits_some_time", waits_some_time},
      {"semaphore_of_one", semaphore_of_one},
      {"semaphore_of_two", semaphore_of_two},
      {"semaphore_of_none", semaphore_of_none},
      {"standard_semaphore", standard_semaphore},
      {"barrier", barrier},
      {"posix_barrier", posix_barrier},
      {"barrier_before_both", barrier_before_both},
      {"latch", latch},
      {"shared_mutex_for_writers", shared_mutex_for_writers},
      {"shared_mutex_for_readers", shared_mutex_for_readers},
      {"future", future},
      {"futures_at_once", futures_at_once},
      {"sleeps_between", sleeps_between},
      {"one_after_the_other", one_after_the_other},
      {"detached", detached},
      {"try_lock_loop", try_lock_loop},
      {"try_lock_ignored", try_lock_ignored},
      {"spins_for_ever", spins_for_ever},
      {"shared_pointer", shared_pointer},
      {"stop_token", stop_token},
      {"exit_of_thread", exit_of_thread},
      {"seldom", seldom},
      {"future_waits_some_time", future_waits_some_time},
      {"barrier_of_three", barrier_of_three},
  };
}

int programs_for_test(const ProgramForTest** first) {
  static const std::vector<ProgramForTest> all = [] {
    std::vector<ProgramForTest> both = programs_of_locks();
    for (const ProgramForTest& program : programs_of_waits()) both.push_back(program);
    return both;
  }();
  *first = all.data();
  return static_cast<int>(all.size());
}

long* value_for_test() { return &value; }
