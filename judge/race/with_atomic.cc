#include <atomic>

#include "judge/race/run_threads.h"
#include "judge/race/variants.h"

namespace rankbox {
namespace {

// On an atomic, `+=` is one step: fetch_add. `value = value + amount` would be two steps again, and
// lose updates.
void adder(std::atomic<std::int64_t>& value, std::int64_t amount, std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i) value += amount;
}

void subtractor(std::atomic<std::int64_t>& value, std::int64_t amount, std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i) value -= amount;
}

}  // namespace

RaceOutcome race_with_atomic(int threads, std::int64_t repeats) {
  std::atomic<std::int64_t> value = 0;
  const double seconds = run_threads(
      threads, [&](int thread) { (thread % 2 == 0 ? adder : subtractor)(value, 1, repeats); });
  return {value, seconds};
}

}  // namespace rankbox
