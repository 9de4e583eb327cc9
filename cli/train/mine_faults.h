// Reports the learner's function and line that ended the program.
//
// Neither exceptions nor signals carry them.
#pragma once

#include <string>
#include <vector>

namespace rankbox::train {

struct MineFunction {
  std::string name;     // of the exercise
  std::string library;  // its file
  const void* address;  // inside the library
};

/// Reports faults in this library from now on. Call before any thread is started.
///
/// A signal such as SIGSEGV in the library, or in a function it called, ends the process with exit
/// code 1 and one line on stderr. Other signals keep their effect.
void report_faults_in(const MineFunction& function);

struct ThrowPlace {
  std::string name;   // of the exercise; empty: the rank threw nothing out of a learner's library
  std::string place;  // "exercises/09_sharding/zero1.cc:14"; empty: unknown
  std::string check;  // the command that explains it: "./rankbox check zero1"
};

/// Returns the exercises whose faults are reported.
std::vector<std::string> functions_of_yours();

/// Returns where this rank last threw; with kAnyRank (judge/faults.h), where any rank did.
ThrowPlace last_throw_of(int rank);

}  // namespace rankbox::train
