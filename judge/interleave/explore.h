// Judges a program by its schedules: all that differ, up to a bound, and then fixed random ones.
//
//   Verdict verdict = explore([&] { return Program{body, judge}; }, {});
//   if (!verdict.problem.empty()) …verdict.schedule is one that goes wrong
//
// The same program gets the same verdict every time, on any machine under any load: no schedule
// depends on time. Only clocks are real, so a program that reads them may differ.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "judge/interleave/control.h"

namespace rankbox::interleave {

struct Limits {
  int executions = 800;                     // of the exhaustive search
  std::int64_t most_steps = 8000;           // of one execution, which is then cut
  int random = 50;                          // executions beyond the bound
  bool record = true;                       // keep the steps; false is quicker for long programs
  bool real_threads = false;                // for programs with thread_local variables
  std::vector<std::uint64_t*> locals = {};  // words that each thread has for itself
  std::uint64_t seed = 1;
  int mean_run = 3;  // steps between two switches of a random walk
};

struct Verdict {
  Ending ending = Ending::kDone;
  // Empty: nothing went wrong. A livelock is one that is proved, or random schedules that are all
  // cut.
  std::string problem;
  std::string schedule;        // that goes wrong, as text; of a random execution "@" and its number
  std::vector<Step> steps;     // of that execution
  int executions = 0;          // that ran
  std::int64_t length = 0;     // steps of all of them
  bool is_exhaustive = false;  // every schedule that makes a difference was run
};

/// Makes a fresh program, for each execution.
using MakeProgram = std::function<Program()>;

/// Blocks until done. Throws what the program throws. After a deadlock or a livelock, the program's
/// threads and what they use stay in memory: the process should end soon.
Verdict explore(const MakeProgram& make, const Limits& limits);

/// Returns whether calls in the library that this function is in are under control. Never under
/// thread and address sanitizers, which cannot follow fibers.
bool is_controlled(const void* function);

/// Returns whether that library has thread_local variables: then Limits::real_threads is needed.
bool has_thread_locals(const void* function);

/// Runs the program once in that schedule, and as usual when it ends. Explores it first, which
/// finds the variables that its threads share. Throws InvalidArgument for a text that is no
/// schedule.
Verdict replay(const MakeProgram& make, const Limits& limits, const std::string& schedule);

/// Returns "0x3.1.0x2": thread 0 takes three steps, then thread 1 takes one, and so on.
std::string text_of(const std::vector<int>& schedule);

/// The inverse. Throws InvalidArgument.
std::vector<int> schedule_of(const std::string& text);

}  // namespace rankbox::interleave
