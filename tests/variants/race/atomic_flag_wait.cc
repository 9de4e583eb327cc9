// A lock of a std::atomic_flag, whose waiters sleep until they are notified.
#include <atomic>
#include <thread>
#include <vector>

#include "collectives/race.h"

namespace rankbox {

void race(SharedValue& value, int threads, std::int64_t repeats) {
  std::atomic_flag taken;
  std::vector<std::jthread> started;
  for (int i = 0; i < threads; ++i) {
    started.emplace_back([&value, &taken, repeats, amount = i % 2 == 0 ? 1 : -1] {
      for (std::int64_t done = 0; done < repeats; ++done) {
        while (taken.test_and_set()) taken.wait(true);
        value.store(value.load() + amount);
        taken.clear();
        taken.notify_one();
      }
    });
  }
}

}  // namespace rankbox
