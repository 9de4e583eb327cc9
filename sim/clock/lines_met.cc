#include "sim/clock/lines_met.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankbox {
namespace {

struct Call {
  const Event* event = nullptr;
  int rank = -1;

  auto place() const {
    return std::tuple(std::string_view(event->place.file_name()), event->place.line());
  }
};

/// Returns "ranks 1, 2 and 5 more called it at a.cc:9".
std::string in_words(const std::vector<Call>& calls) {
  constexpr std::size_t kMostShown = 4;
  std::vector<int> shown;
  for (std::size_t i = 0; i < std::min(kMostShown, calls.size()); ++i)
    shown.push_back(calls[i].rank);
  const std::size_t more = calls.size() - shown.size();
  const auto& [file, line] = calls.front().place();
  return fmt::format("rank{} {}{} called it at {}:{}", calls.size() == 1 ? "" : "s",
                     fmt::join(shown, ", "), more == 0 ? "" : fmt::format(" and {} more", more),
                     file, line);
}

}  // namespace

std::optional<std::string> lines_met(const Trace& trace) {
  for (std::size_t group = 0; group < trace.groups.size(); ++group) {
    std::vector<std::vector<Call>> rounds;  // [k]: the k-th collective of each member
    for (const int rank : trace.groups[group]) {
      std::size_t number = 0;
      for (const Event& event : trace.ranks[static_cast<std::size_t>(rank)]) {
        const bool is_ours =
            event.kind == EventKind::kCollective && static_cast<std::size_t>(event.group) == group;
        if (!is_ours) continue;
        if (number == rounds.size()) rounds.emplace_back();
        rounds[number++].push_back({&event, rank});
      }
    }
    for (std::vector<Call>& round : rounds) {
      std::ranges::stable_sort(round, {}, &Call::place);
      const auto other = std::ranges::upper_bound(round, round.front().place(), {}, &Call::place);
      if (other == round.end()) continue;
      const int root = round.front().event->peer;  // may have its own line
      const bool is_root_alone =
          root >= 0 && other - round.begin() == 1 && round.front().rank == root;
      const bool are_others_alone = root >= 0 && round.end() - other == 1 && other->rank == root;
      if (is_root_alone || are_others_alone) continue;
      const auto last =
          std::ranges::upper_bound(other, round.end(), other->place(), {}, &Call::place);
      return fmt::format("ranks met in one {} from different lines: {}, {}; do they mean the same?",
                         name_of(*round.front().event), in_words({round.begin(), other}),
                         in_words({other, last}));
    }
  }
  return std::nullopt;
}

}  // namespace rankbox
