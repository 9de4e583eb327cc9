// Judges the exercise `race` by its schedules instead of by luck.
//
// A learner's file that was compiled for it (cli/plugin/compile.h) runs under the scheduler of
// judge/interleave/. Of a run with few updates every schedule that can make a difference is tried,
// of longer ones a fixed list of random schedules. The verdict is the same every time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collectives/shared_value.h"
#include "judge/interleave/explore.h"

namespace rankbox {

using RaceFunction = void (*)(SharedValue& value, int threads, std::int64_t repeats);

/// A run of the exercise.
struct RaceRun {
  RaceFunction function = nullptr;
  std::int64_t before = 0;  // the number in the value
  int threads = 2;
  std::int64_t repeats = 1;
};

/// Returns whether the function's library is under control. Where it is not, one has to watch some
/// runs: functions that are linked into the program, stand-ins for another process.
bool can_explore(RaceFunction function);

/// Returns "2x1:0.1x2.2x4": threads, repeats and a schedule, for ./rankbox race FILE --replay.
std::string replay_text(const RaceRun& run, const std::string& schedule);

/// The inverse: sets threads and repeats. Returns the schedule. Throws InvalidArgument.
std::string parse_replay(const std::string& text, RaceRun& run);

/// Blocks until done. Throws what the function throws.
interleave::Verdict explore_race(const RaceRun& run);

/// Runs it once, in a schedule that explore_race() returned.
interleave::Verdict replay_race(const RaceRun& run, const std::string& schedule);

}  // namespace rankbox
