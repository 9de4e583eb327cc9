#include "sim/skipped_collective.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rankbox::sim {
namespace {

/// Returns the rank's collectives of the group, in order.
std::vector<Event> collectives_of(const Group& group, const RankState& rank) {
  std::vector<Event> calls;
  rank.recorder.for_each([&](const Event& event) {
    if (event.kind == EventKind::kCollective && event.group == group.id()) calls.push_back(event);
  });
  return calls;
}

using CallPlace = std::pair<std::string_view, std::uint32_t>;

CallPlace place_of(const Event& event) { return {event.place.file_name(), event.place.line()}; }

}  // namespace

std::string skipped_collective(const Group& group, const RankState& waiting,
                               const RankState& returned) {
  const std::vector<Event> mine = collectives_of(group, waiting);
  const std::vector<Event> theirs = collectives_of(group, returned);
  std::map<CallPlace, std::size_t> last;  // the number of my last call from there
  for (std::size_t i = 0; i < mine.size(); ++i) last[place_of(mine[i])] = i;
  for (std::size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
    if (place_of(mine[i]) == place_of(theirs[i])) continue;
    const auto reached = last.find(place_of(theirs[i]));
    if (reached == last.end() || reached->second < i) continue;
    return fmt::format(
        "\n  before that, rank {}'s {} at {}:{} met rank {}'s {} at {}:{}: did rank {} leave one "
        "out?",
        waiting.rank, name_of(mine[i]), mine[i].place.file_name(), mine[i].place.line(),
        returned.rank, name_of(theirs[i]), theirs[i].place.file_name(), theirs[i].place.line(),
        returned.rank);
  }
  return "";
}

}  // namespace rankbox::sim
