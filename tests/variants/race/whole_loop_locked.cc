// The mutex is held for all updates of a thread: the threads take turns once.
#include <mutex>
#include <thread>
#include <vector>

#include "collectives/race.h"

namespace rankbox {

void race(SharedValue& value, int threads, std::int64_t repeats) {
  std::mutex mutex;
  std::vector<std::jthread> started;
  for (int i = 0; i < threads; ++i) {
    started.emplace_back([&value, &mutex, repeats, amount = i % 2 == 0 ? 1 : -1] {
      const std::scoped_lock lock(mutex);
      for (std::int64_t update = 0; update < repeats; ++update) {
        value.store(value.load() + amount);
      }
    });
  }
}

}  // namespace rankbox
