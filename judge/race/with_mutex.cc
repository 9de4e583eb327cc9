#include <mutex>

#include "judge/race/run_threads.h"
#include "judge/race/variants.h"

namespace rankbox {
namespace {

// While this thread holds the lock, no other thread is between the load and the store of `+=`. (The
// lock also prevents the optimizer from merging updates: each lock() may let another thread's
// updates in.)
void adder(std::int64_t& value, std::mutex& mutex, std::int64_t amount, std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i) {
    const std::lock_guard lock(mutex);
    value += amount;
  }
}

void subtractor(std::int64_t& value, std::mutex& mutex, std::int64_t amount, std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i) {
    const std::lock_guard lock(mutex);
    value -= amount;
  }
}

}  // namespace

RaceOutcome race_with_mutex(int threads, std::int64_t repeats) {
  std::mutex mutex;
  std::int64_t value = 0;
  const double seconds = run_threads(threads, [&](int thread) {
    (thread % 2 == 0 ? adder : subtractor)(value, mutex, 1, repeats);
  });
  return {value, seconds};
}

}  // namespace rankbox
