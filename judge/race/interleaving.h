// One interleaving of two updates, step by step.
//
// `value += amount` is three steps of a thread: load the shared value into its register, add to the
// register, store the register. Two threads that make one update each take six steps together. A
// schedule determines which of the two takes the next step. There are 6! / (3! 3!) = 20 schedules.
//
// All output is computed by executing a schedule; nothing is fixed in advance.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankbox {

enum class RaceStep : std::uint8_t { kLoad, kAdd, kStore };

/// schedule[i] is the thread, 0 or 1, that takes step i. REQUIRES: three of each.
using Schedule = std::array<int, 6>;

/// The amount that each thread adds in its update.
using Amounts = std::array<std::int64_t, 2>;

/// A step, and the contents of memory and registers after it.
struct Moment {
  int thread = 0;
  RaceStep step = RaceStep::kLoad;
  std::array<std::optional<std::int64_t>, 2> registers;  // empty until the thread has loaded
  std::int64_t value = 0;
  bool overwrote =
      false;  // this store undid one that came after this thread's load: that update is lost
};

/// Returns the six moments of two threads that update a value of `start`.
std::vector<Moment> play(const Schedule& schedule, const Amounts& amounts, std::int64_t start = 0);

/// Returns whether the schedule loses an update.
bool loses_update(const Schedule& schedule);

/// Returns all 20, in lexicographic order.
std::vector<Schedule> all_schedules();

/// A schedule that loses the update of thread 0.
inline constexpr Schedule kLosingSchedule = {0, 1, 0, 0, 1, 1};

/// Returns a table in plain text: a heading, the start, then one line per moment. It takes at most
/// 76 columns.
std::vector<std::string> interleaving_table(const Schedule& schedule, const Amounts& amounts,
                                            std::int64_t start = 0);

}  // namespace rankbox
