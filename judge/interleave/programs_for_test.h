// What explore_test calls in the library of small programs, and what they share.
//
// Each program adds 1 to `value` twice, in two threads, unless it says otherwise. It is wrong if
// the value can be another one at its end.
#pragma once

#include <thread>
#include <vector>

struct ProgramForTest {
  const char* name;
  void (*run)();
};

/// Returns the number of programs, and sets the address of the first.
extern "C" int programs_for_test(const ProgramForTest** first);
extern "C" long* value_for_test();

inline long value = 0;

/// Of locks and atomics; of everything else.
std::vector<ProgramForTest> programs_of_locks();
std::vector<ProgramForTest> programs_of_waits();

inline void twice(const auto& work) {
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
}

// In two steps, also to the compiler.
inline void add() {
  const long before = value;
  value = before + 1;
}
