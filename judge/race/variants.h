// Four variants of one program: threads that add 1 and subtract 1 from one value.
//
// Half of the threads add, half subtract, each `repeats` times; so the final value should be 0.
//
//   unfixed         value = value + amount, without any order between threads: updates are lost
//   with a mutex    a thread holds the lock from its load to its store
//   with an atomic  load, add and store are one instruction that the machine does not interrupt
//   with messages   nothing is shared: one rank owns the value, the others send it their updates
//
// REQUIRES: threads even and at least 2, repeats >= 0. Throws InvalidArgument if the machine cannot
// start the threads (or ranks).
#pragma once

#include <cstdint>
#include <span>

namespace rankbox {

struct RaceOutcome {
  std::int64_t final_value = 0;
  double seconds = 0;
};

/// A data race, which in C++ is undefined behaviour: the standard guarantees nothing. Only for the
/// demonstration.
RaceOutcome race_unfixed(int threads, std::int64_t repeats);

RaceOutcome race_with_mutex(int threads, std::int64_t repeats);
RaceOutcome race_with_atomic(int threads, std::int64_t repeats);

/// Starts threads + 1 ranks. One message per update: threads * repeats messages.
RaceOutcome race_with_messages(int threads, std::int64_t repeats);

struct RaceVariant {
  const char* name;
  RaceOutcome (*run)(int threads, std::int64_t repeats);
};

/// Returns the four variants, the unfixed one first.
std::span<const RaceVariant> race_variants();

}  // namespace rankbox
