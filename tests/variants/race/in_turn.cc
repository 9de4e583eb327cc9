// Threads take turns in a fixed order: a condition variable passes the turn on.
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "collectives/race.h"
namespace rankbox {
void race(SharedValue& value, int threads, std::int64_t repeats) {
  std::mutex m;
  std::condition_variable turn_changed;
  int turn = 0;
  auto work = [&](int me) {
    const std::int64_t amount = me % 2 == 0 ? 1 : -1;
    for (std::int64_t i = 0; i < repeats; ++i) {
      std::unique_lock<std::mutex> lk(m);
      turn_changed.wait(lk, [&] { return turn == me; });
      value.store(value.load() + amount);
      turn = (turn + 1) % threads;
      lk.unlock();
      turn_changed.notify_all();
    }
  };
  std::vector<std::thread> ts;
  for (int i = 0; i < threads; ++i) ts.emplace_back(work, i);
  for (auto& t : ts) t.join();
}
}  // namespace rankbox
