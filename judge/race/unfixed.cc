#include "judge/race/run_threads.h"
#include "judge/race/variants.h"

namespace rankbox {
namespace {

// Without volatile the optimizer would merge the loop into one `value += amount * repeats`, and two
// single updates rarely collide. It makes the compiler load and store in every iteration, as Python
// does. It does not order threads.
void adder(volatile std::int64_t& value, std::int64_t amount, std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i) value = value + amount;
}

void subtractor(volatile std::int64_t& value, std::int64_t amount, std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i) value = value - amount;
}

}  // namespace

RaceOutcome race_unfixed(int threads, std::int64_t repeats) {
  volatile std::int64_t value = 0;
  const double seconds = run_threads(
      threads, [&](int thread) { (thread % 2 == 0 ? adder : subtractor)(value, 1, repeats); });
  return {value, seconds};
}

}  // namespace rankbox
