#include <mutex>

#include "judge/race/run_threads.h"
#include "judge/race/variants.h"

namespace rankbox {

RaceOutcome race_with_mutex(const RaceProgram& program) {
  std::mutex mutex;
  std::int64_t value = 0;
  const double seconds = run_threads(program.threads, [&](int thread) {
    const std::int64_t amount = amount_of(program, thread);
    for (std::int64_t i = 0; i < program.repeats; ++i) {
      // While this thread holds the lock, no other thread is between its load and its store. (The
      // lock also prevents the optimizer from merging updates: each lock() may let another thread's
      // updates in.)
      const std::lock_guard lock(mutex);
      const std::int64_t loaded = value;
      spin(program.delay);
      value = loaded + amount;
    }
  });
  return {value, seconds};
}

}  // namespace rankbox
