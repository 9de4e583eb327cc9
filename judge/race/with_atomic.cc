#include <atomic>

#include "judge/race/run_threads.h"
#include "judge/race/variants.h"

namespace rankbox {

RaceOutcome race_with_atomic(const RaceProgram& program) {
  std::atomic<std::int64_t> value = 0;
  const double seconds = run_threads(program.threads, [&](int thread) {
    const std::int64_t amount = amount_of(program, thread);
    for (std::int64_t i = 0; i < program.repeats; ++i) {
      spin(program.delay);
      // On an atomic, `+=` is one step: fetch_add. `value = value + amount` would be two steps
      // again, and lose updates.
      value += amount;
    }
  });
  return {value, seconds};
}

}  // namespace rankbox
