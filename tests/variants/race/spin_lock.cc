// A flag that only one thread at a time can set, instead of a mutex.
#include <atomic>
#include <thread>
#include <vector>

#include "collectives/race.h"

namespace rankbox {

void race(SharedValue& value, int threads, std::int64_t repeats) {
  std::atomic_flag busy;
  const auto update = [&](std::int64_t amount) {
    for (std::int64_t i = 0; i < repeats; ++i) {
      while (busy.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
      value.store(value.load() + amount);
      busy.clear(std::memory_order_release);
    }
  };
  std::vector<std::thread> started;
  for (int i = 0; i < threads; ++i) started.emplace_back(update, i % 2 == 0 ? 1 : -1);
  for (std::thread& thread : started) thread.join();
}

}  // namespace rankbox
