// A ticket for each update, and a number that is served.
#include <atomic>
#include <thread>
#include <vector>

#include "collectives/race.h"

namespace rankbox {

struct TicketLock {
  std::atomic<unsigned> next{0}, serving{0};
  void lock() {
    const unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
    while (serving.load(std::memory_order_acquire) != mine) std::this_thread::yield();
  }
  void unlock() {
    serving.store(serving.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
};

void race(SharedValue& value, int threads, std::int64_t repeats) {
  TicketLock tickets;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; i++) {
    all.push_back(std::thread([&, i]() {
      for (std::int64_t k = 0; k < repeats; k++) {
        tickets.lock();
        value.store(value.load() + (i % 2 ? -1 : 1));
        tickets.unlock();
      }
    }));
  }
  for (auto& t : all) t.join();
}

}  // namespace rankbox
