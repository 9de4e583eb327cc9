#include "race/judge_race.h"

#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "race/grouped.h"

namespace rankbox {

std::optional<std::string> what_is_wrong(const SharedValue& value, std::int64_t before, int threads,
                                         std::int64_t repeats) {
  const std::vector<SharedValue::Use> uses = value.uses();
  const std::size_t expected_threads = repeats > 0 ? static_cast<std::size_t>(threads) : 0;

  // First, check that the updates were made: an untouched value also keeps its number.
  if (uses.size() != expected_threads) {
    return fmt::format(
        "{} threads loaded or stored the value, expected {}: start one thread per rank of the race",
        uses.size(), expected_threads);
  }
  for (const SharedValue::Use& use : uses) {
    if (use.loads != repeats || use.stores != repeats) {
      return fmt::format(
          "a thread made {} loads and {} stores, expected {} of each: every update is one load and "
          "one store",
          grouped(use.loads), grouped(use.stores), grouped(repeats));
    }
  }

  // Then, check that none was lost.
  if (value.final_value() != before) {
    const std::int64_t off = value.final_value() - before;
    return fmt::format(
        "{} threads made {} updates each, and the value went from {} to {}, expected {}: at least "
        "{} updates were lost",
        threads, grouped(repeats), grouped(before), grouped(value.final_value()), grouped(before),
        grouped(off < 0 ? -off : off));
  }
  std::int64_t overwrites = 0;
  for (const SharedValue::Use& use : uses) overwrites += use.overwrites;
  if (overwrites > 0) {
    return fmt::format(
        "{} threads made {} updates each, and {} times a thread stored over a number that it had "
        "not loaded: those updates "
        "were lost, even if additions and subtractions happened to cancel out",
        threads, grouped(repeats), grouped(overwrites));
  }
  return std::nullopt;
}

}  // namespace rankbox
