#include "sim/skipped_collective.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
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

bool same_place(const Event& a, const Event& b) {
  return a.place.line() == b.place.line() &&
         std::string_view(a.place.file_name()) == b.place.file_name();
}

}  // namespace

std::string skipped_collective(const Group& group, const RankState& waiting,
                               const RankState& returned) {
  const std::vector<Event> mine = collectives_of(group, waiting);
  const std::vector<Event> theirs = collectives_of(group, returned);
  for (std::size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
    if (same_place(mine[i], theirs[i])) continue;
    const auto later = mine.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const bool reached_later = std::any_of(
        later, mine.end(), [&](const Event& call) { return same_place(call, theirs[i]); });
    if (!reached_later) continue;
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
