// A semaphore of one lets one thread in, and the threads join by themselves. (A POSIX one: that of
// libstdc++ 12, std::binary_semaphore, may sleep although it is free, PR 104928.)
#include <thread>
#include <vector>

#include <semaphore.h>

#include "collectives/race.h"

namespace rankbox {

void race(SharedValue& value, int threads, std::int64_t repeats) {
  sem_t free;
  sem_init(&free, 0, 1);
  const auto work = [&](std::int64_t amount) {
    for (std::int64_t left = repeats; left > 0; --left) {
      sem_wait(&free);
      const std::int64_t before = value.load();
      value.store(before + amount);
      sem_post(&free);
    }
  };
  {
    std::vector<std::jthread> adders;
    std::vector<std::jthread> subtractors;
    for (int i = 0; i < threads / 2; ++i) {
      adders.emplace_back(work, 1);
      subtractors.emplace_back(work, -1);
    }
  }
  sem_destroy(&free);
}

}  // namespace rankbox
