// Four variants of one program: threads that add to one value, and threads that subtract from it.
//
// Half of the threads add, half subtract, the same amount and each `repeats` times; so the final
// value should be 0.
//
//   unfixed         value = value + amount, without any order between threads: updates are lost
//   with a mutex    a thread holds the lock from its load to its store
//   with an atomic  load, add and store are one instruction that the machine does not interrupt
//   with messages   nothing is shared: one rank owns the value, the others send it their updates
//
// REQUIRES: threads even and at least 2; repeats and delay >= 0. Throws InvalidArgument if the
// machine cannot start the threads (or ranks).
#pragma once

#include <cstdint>
#include <span>

namespace rankbox {

struct RaceOutcome {
  std::int64_t final_value = 0;
  double seconds = 0;
};

struct RaceProgram {
  int threads = 2;
  std::int64_t repeats = 0;  // updates of each thread
  std::int64_t amount = 1;   // of each update
  /// Nanoseconds for which a thread spins between its load and its store; where the two are one
  /// instruction, before it.
  std::int64_t delay = 0;
};

/// Returns what this thread adds: even ones the amount, odd ones its negative.
inline std::int64_t amount_of(const RaceProgram& program, int thread) {
  return thread % 2 == 0 ? program.amount : -program.amount;
}

/// A data race, which in C++ is undefined behaviour: the standard guarantees nothing. Only for the
/// demonstration.
RaceOutcome race_unfixed(const RaceProgram& program);

RaceOutcome race_with_mutex(const RaceProgram& program);
RaceOutcome race_with_atomic(const RaceProgram& program);

/// Starts threads + 1 ranks. One message per update: threads * repeats messages.
RaceOutcome race_with_messages(const RaceProgram& program);

struct RaceVariant {
  const char* name;
  RaceOutcome (*run)(const RaceProgram& program);
};

/// Returns the four variants, the unfixed one first.
std::span<const RaceVariant> race_variants();

}  // namespace rankbox
