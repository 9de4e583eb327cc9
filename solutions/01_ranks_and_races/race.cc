#include "collectives/race.h"

#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rankbox {
namespace {

// Load, add and store are one critical section: no other thread comes between the load and the
// store of the thread that holds the mutex. A lock around the whole loop would be as correct, but
// the threads would run one after the other instead of together.
void adder(SharedValue& value, std::mutex& mutex, std::int64_t amount, std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i) {
    const std::lock_guard lock(mutex);
    value.store(value.load() + amount);
  }
}

// The same mutex: two mutexes would only keep adders from adders and subtractors from subtractors.
void subtractor(SharedValue& value, std::mutex& mutex, std::int64_t amount, std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i) {
    const std::lock_guard lock(mutex);
    value.store(value.load() - amount);
  }
}

}  // namespace

// A mutex, because it protects any number of statements. For a single number the machine has
// something quicker, one instruction that loads, adds and stores: std::atomic<std::int64_t> and its
// fetch_add (judge/race/with_atomic.cc).
void race(SharedValue& value, int threads, std::int64_t repeats) {
  std::mutex mutex;
  std::vector<std::thread> started;
  for (int i = 0; i < threads; ++i) {
    started.emplace_back(i % 2 == 0 ? adder : subtractor, std::ref(value), std::ref(mutex), 1,
                         repeats);
  }
  for (std::thread& thread : started) {
    thread.join();
  }
}

}  // namespace rankbox
