// What explore_test calls in the library of programs_for_test.cc.
#pragma once

struct ProgramForTest {
  const char* name;
  void (*run)();
};

extern "C" const ProgramForTest* programs_for_test(int* count);
extern "C" long* value_for_test();
