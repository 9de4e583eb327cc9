// Small programs with locks and atomics, right and wrong ones.
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "judge/interleave/programs_for_test.h"

namespace {

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

/// Each of four threads waits for its turn by polling under a mutex.
void turns_polled() {
  std::mutex mutex;
  int turn = 0;
  std::vector<std::thread> threads;
  for (int number = 3; number >= 0; --number) {
    threads.emplace_back([&, number] {
      for (int round = 0; round < 2; ++round) {
        while (true) {
          const std::lock_guard lock(mutex);
          if (turn % 4 != number) continue;
          add();
          ++turn;
          break;
        }
      }
    });
  }
  for (std::thread& each : threads) each.join();
  value -= 6;
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

}  // namespace

std::vector<ProgramForTest> programs_of_locks() {
  return {
      {"lost_update", lost_update},
      {"with_mutex", with_mutex},
      {"other_mutexes", other_mutexes},
      {"guard_is_temporary", guard_is_temporary},
      {"recursive_mutex", recursive_mutex},
      {"locked_twice", locked_twice},
      {"two_orders", two_orders},
      {"scoped_lock_of_two", scoped_lock_of_two},
      {"compare_and_swap", compare_and_swap},
      {"fetch_add", fetch_add},
      {"atomic_but_two_steps", atomic_but_two_steps},
      {"spin_lock", spin_lock},
      {"spin_lock_that_yields", spin_lock_that_yields},
      {"broken_spin_lock", broken_spin_lock},
      {"plain_flag", plain_flag},
      {"ticket_lock", ticket_lock},
      {"peterson_right", peterson_right},
      {"peterson_without_turn", peterson_without_turn},
      {"mutex_polled", mutex_polled},
      {"turns_polled", turns_polled},
  };
}
