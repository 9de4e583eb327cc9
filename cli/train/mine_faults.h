// Reports the learner's function and line that ended the program: neither exceptions nor signals
// carry them.
#pragma once

#include <string>
#include <vector>

namespace rankbox::train {

struct MineFunction {
  std::string name;     // of the exercise
  std::string library;  // its file
  const void* address;  // inside the library
};

/// From here on, faults in this library are reported. Call before any thread is started.
///
/// A signal such as SIGSEGV in it, or in what it called, ends the process with exit code 1 and one
/// line on stderr. Other signals keep their effect.
void report_faults_in(const MineFunction& function);

struct ThrowPlace {
  std::string name;   // of the exercise; empty: the rank did not throw out of a learner's library
  std::string place;  // "exercises/09_sharding/zero1.cc:14"; empty: unknown
  std::string check;  // the command that explains it: "./rankbox check zero1"
};

/// The exercises whose faults are reported.
std::vector<std::string> functions_of_yours();

constexpr int kAnyRank = -2;

/// Where this rank last threw. With kAnyRank: any rank that threw.
ThrowPlace last_throw_of(int rank);

}  // namespace rankbox::train
