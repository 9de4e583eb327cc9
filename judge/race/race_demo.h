// The race-condition demo: `./rankbox race`.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace rankbox {

struct RaceOptions {
  int threads = 2;                   // half of them add, half subtract: even, 2 to kMaxRaceThreads
  std::int64_t repeats = 1'000'000;  // updates of each thread, 0 to kMaxRaceRepeats
  std::int64_t amount = 1;           // of each update, 1 to kMaxRaceAmount
  std::int64_t delay = 0;            // nanoseconds between load and store, 0 to kMaxRaceDelay
  int runs = 100;  // of the unfixed race, 1 to kMaxRaceRuns; the fixes run at most 7 times
  bool color = false;
  bool step = false;  // wait for Enter (on stdin) before every line of the interleaving
  int width = 80;     // columns of the terminal; 40 at least are used
  std::function<std::string(const std::string&)> fit = {};  // breaks lines to fit; may be empty
  std::function<void()> before_run = {};  // called before every run; may throw to end the demo
};

inline constexpr int kMaxRaceThreads = 512;
inline constexpr std::int64_t kMaxRaceRepeats = 1'000'000'000;
inline constexpr std::int64_t kMaxRaceAmount = 999;  // as wide as the interleaving's columns
inline constexpr std::int64_t kMaxRaceDelay = 1'000'000;
inline constexpr int kMaxRaceRuns = 100'000;

/// Throws InvalidArgument, one line that names the option, its value and the possible values, if an
/// option is out of range.
void check_race_options(const RaceOptions& options);

/// Asks for the user's expectation, runs the race many times and shows its results. Then runs the
/// three fixes with their cost, and steps through one interleaving that loses an update. Takes
/// about 2 seconds with the default options on two cores.
///
/// Returns the process's exit status: 0, or 1 if a fixed race did not end at 0 (a bug in Rankbox).
///
/// Throws, before printing: InvalidArgument as check_race_options, or if the machine cannot start
/// the threads. At any time: what before_run throws.
///
/// Interruption: writes whole lines and changes no terminal setting, so Ctrl-C may end it at any
/// moment.
int run_race_demo(const RaceOptions& options, std::FILE* out);

}  // namespace rankbox
