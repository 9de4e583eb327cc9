// std::async starts the threads, and their futures are waited for.
#include <future>
#include <mutex>
#include <vector>

#include "collectives/race.h"

namespace rankbox {

void race(SharedValue& value, int threads, std::int64_t repeats) {
  std::mutex mutex;
  const auto work = [&](std::int64_t amount) {
    for (std::int64_t i = 0; i < repeats; ++i) {
      const std::lock_guard lock(mutex);
      value.store(value.load() + amount);
    }
  };
  std::vector<std::future<void>> started;
  for (int i = 0; i < threads; ++i)
    started.push_back(std::async(std::launch::async, work, i % 2 == 0 ? 1 : -1));
  for (std::future<void>& each : started) each.get();
}

}  // namespace rankbox
