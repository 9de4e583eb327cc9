#include "judge/race/judge_race.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "judge/race/grouped.h"

namespace rankbox {

namespace {

/// Returns "1 update", "2,000 updates".
std::string updates(std::int64_t number) {
  return fmt::format("{} update{}", grouped(number), number == 1 ? "" : "s");
}

/// Returns the likely cause of a wrong number of threads that loaded or stored the value.
std::string wrong_number(std::size_t actual, std::size_t expected) {
  const char* cause = "";
  if (expected == 0) {
    cause = "with repeats = 0 there is nothing to load or store";
  } else if (actual == 0) {
    cause = "no thread made an update: start `threads` of them, and give each the updates to make";
  } else if (actual == 1) {
    cause = "one thread made all updates: start `threads` of them at once";
  } else if (actual < expected) {
    cause = "the argument `threads` says how many to start";
  } else {
    cause = "start `threads` of them; the one that starts them makes no updates itself";
  }
  return fmt::format("{} thread{} loaded or stored the value, not {}: {}", actual,
                     actual == 1 ? "" : "s", expected, cause);
}

}  // namespace

std::optional<std::string> what_is_wrong(const SharedValue& value, std::int64_t before, int threads,
                                         std::int64_t repeats) {
  const std::vector<SharedValue::Use> uses = value.uses();
  const std::size_t expected_threads = repeats > 0 ? static_cast<std::size_t>(threads) : 0;

  // First, check that the updates were made: an untouched value also keeps its number.
  if (uses.size() != expected_threads) return wrong_number(uses.size(), expected_threads);
  for (const SharedValue::Use& use : uses) {
    if (use.loads != repeats || use.stores != repeats) {
      return fmt::format(
          "a thread made {} load{} and {} store{}, not {} of each: every update is one load and "
          "one "
          "store",
          grouped(use.loads), use.loads == 1 ? "" : "s", grouped(use.stores),
          use.stores == 1 ? "" : "s", grouped(repeats));
    }
  }

  for (const SharedValue::Use& use : uses) {
    const std::int64_t others = repeats - use.additions - use.subtractions;
    if (others == 0) continue;
    return fmt::format(
        "a thread stored another number than the one that it had loaded plus or minus 1, {} "
        "time{}: every update adds 1 or subtracts 1",
        grouped(others), others == 1 ? "" : "s");
  }

  // Then, check that none was lost.
  if (value.final_value() != before) {
    const std::int64_t off = value.final_value() - before;
    return fmt::format(
        "{} threads made {} each, and the value went from {} to {} instead of {}: at least {} {} "
        "lost",
        threads, updates(repeats), grouped(before), grouped(value.final_value()), grouped(before),
        updates(off < 0 ? -off : off), off == 1 || off == -1 ? "was" : "were");
  }
  std::int64_t overwrites = 0;
  for (const SharedValue::Use& use : uses) overwrites += use.overwrites;
  if (overwrites > 0) {
    return fmt::format(
        "{} threads made {} each, and a thread stored over a number that it had not loaded, {} "
        "time{}: each time an update was lost, even if additions and subtractions happened to "
        "cancel out",
        threads, updates(repeats), grouped(overwrites), overwrites == 1 ? "" : "s");
  }

  // Last, check who adds.
  const auto adds = std::ranges::count(uses, repeats, &SharedValue::Use::additions);
  const auto subtracts = std::ranges::count(uses, repeats, &SharedValue::Use::subtractions);
  if (repeats > 0 && (adds != threads / 2 || subtracts != threads / 2)) {
    return fmt::format(
        "{} of {} threads only add and {} only subtract: half of them should add in each of their "
        "updates, the others subtract",
        adds, threads, subtracts);
  }
  return std::nullopt;
}

}  // namespace rankbox
