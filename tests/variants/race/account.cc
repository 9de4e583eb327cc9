// The value and its mutex in a class, whose add() is the critical section.
#include <mutex>
#include <thread>
#include <vector>

#include "collectives/race.h"

namespace rankbox {

namespace {

class Account {
 public:
  explicit Account(SharedValue& value) : value_(value) {}

  void add(std::int64_t amount) {
    const std::scoped_lock lock(mutex_);
    value_.store(value_.load() + amount);
  }

 private:
  SharedValue& value_;
  std::mutex mutex_;
};

}  // namespace

void race(SharedValue& value, int threads, std::int64_t repeats) {
  Account account(value);
  std::vector<std::jthread> started;
  for (int i = 0; i < threads; ++i) {
    started.emplace_back([&account, repeats, i] {
      for (std::int64_t left = repeats; left > 0; --left) account.add(i % 2 == 0 ? 1 : -1);
    });
  }
}

}  // namespace rankbox
