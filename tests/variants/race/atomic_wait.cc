// A lock of a std::atomic, whose waiters sleep until they are notified.
#include <atomic>
#include <thread>
#include <vector>

#include "collectives/race.h"

namespace rankbox {

namespace {

class Lock {
 public:
  void lock() {
    for (int free = 0; !taken_.compare_exchange_strong(free, 1); free = 0) taken_.wait(1);
  }
  void unlock() {
    taken_ = 0;
    taken_.notify_one();
  }

 private:
  std::atomic<int> taken_ = 0;
};

}  // namespace

void race(SharedValue& value, int threads, std::int64_t repeats) {
  Lock lock;
  std::vector<std::thread> started;
  for (int i = 0; i < threads; ++i) {
    started.emplace_back([&value, &lock, repeats, amount = i % 2 == 0 ? 1 : -1] {
      for (std::int64_t done = 0; done < repeats; ++done) {
        lock.lock();
        value.store(value.load() + amount);
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : started) thread.join();
}

}  // namespace rankbox
