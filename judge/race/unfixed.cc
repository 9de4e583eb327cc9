#include "judge/race/run_threads.h"
#include "judge/race/variants.h"

namespace rankbox {

RaceOutcome race_unfixed(const RaceProgram& program) {
  // Without volatile the optimizer would merge the loop into one `value += amount * repeats`, and
  // two single updates rarely collide. It makes the compiler load and store in every iteration, as
  // Python does. It does not order threads.
  volatile std::int64_t value = 0;
  const double seconds = run_threads(program.threads, [&](int thread) {
    const std::int64_t amount = amount_of(program, thread);
    for (std::int64_t i = 0; i < program.repeats; ++i) {
      const std::int64_t loaded = value;
      if (program.delay > 0) spin(program.delay);
      value = loaded + amount;
    }
  });
  return {value, seconds};
}

}  // namespace rankbox
