// A semaphore of one lets one thread in, and the threads join by themselves.
#include <semaphore>
#include <thread>
#include <vector>

#include "collectives/race.h"

namespace rankbox {

void race(SharedValue& value, int threads, std::int64_t repeats) {
  std::binary_semaphore free(1);
  const auto work = [&](std::int64_t amount) {
    for (std::int64_t left = repeats; left > 0; --left) {
      free.acquire();
      const std::int64_t before = value.load();
      value.store(before + amount);
      free.release();
    }
  };
  std::vector<std::jthread> adders;
  std::vector<std::jthread> subtractors;
  for (int i = 0; i < threads / 2; ++i) {
    adders.emplace_back(work, 1);
    subtractors.emplace_back(work, -1);
  }
}

}  // namespace rankbox
