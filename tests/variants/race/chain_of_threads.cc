// A thread starts the next one before its own updates, and joins it after them.
#include <functional>
#include <mutex>
#include <thread>

#include "collectives/race.h"

namespace rankbox {

void race(SharedValue& value, int threads, std::int64_t repeats) {
  std::mutex mutex;
  std::function<void(int)> run = [&](int me) {
    std::thread next;
    if (me + 1 < threads) next = std::thread(run, me + 1);
    const std::int64_t amount = me % 2 == 0 ? 1 : -1;
    for (std::int64_t i = 0; i < repeats; ++i) {
      mutex.lock();
      const std::int64_t loaded = value.load();
      value.store(loaded + amount);
      mutex.unlock();
    }
    if (next.joinable()) next.join();
  };
  std::thread(run, 0).join();
}

}  // namespace rankbox
