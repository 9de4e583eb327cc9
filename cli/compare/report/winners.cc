#include "cli/compare/report/winners.h"

#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "cli/compare/report/report.h"
#include "cli/support/lists.h"

namespace rankbox::cli {
namespace {

/// Whether the row has a time on this clock.
bool has_time(const Row& row, ClockKind clock) {
  if (row.failure) return false;
  return clock == ClockKind::kWall ? row.time.has_value() : row.virtual_seconds.has_value();
}

double seconds_of(const Row& row, ClockKind clock) {
  return clock == ClockKind::kWall ? row.time->median : *row.virtual_seconds;
}

// Sums of the same terms in different orders count as equal.
constexpr double kRounding = 1e-9;

/// Whether the difference could be noise: the middle halves of the two samples overlap.
bool could_be_equal(const Row& a, const Row& b, ClockKind clock) {
  return clock == ClockKind::kWall ? a.time->q1 <= b.time->q3 && b.time->q1 <= a.time->q3
                                   : *a.virtual_seconds <= *b.virtual_seconds * (1 + kRounding);
}

const Row* row_of(Rows contest, const std::string& label, ClockKind clock) {
  for (const Row& row : contest) {
    if (label_of(row) == label && has_time(row, clock)) return &row;
  }
  return nullptr;
}

/// The size between two measured ones at which `challenger` becomes faster than `champion`: virtual
/// times are about linear there. None if it cannot be computed.
std::optional<std::int64_t> crossover(Rows before, Rows after, const std::string& champion,
                                      const std::string& challenger) {
  using enum ClockKind;
  const Row* const ends[] = {
      row_of(before, champion, kVirtual), row_of(before, challenger, kVirtual),
      row_of(after, champion, kVirtual), row_of(after, challenger, kVirtual)};
  for (const Row* end : ends) {
    if (end == nullptr) {
      return std::nullopt;
    }
  }
  const double lag_before = *ends[1]->virtual_seconds - *ends[0]->virtual_seconds;
  const double lag_after = *ends[3]->virtual_seconds - *ends[2]->virtual_seconds;
  if (lag_before < 0 || lag_after >= 0) {
    return std::nullopt;
  }
  const auto low = static_cast<double>(ends[0]->bytes);
  const auto high = static_cast<double>(ends[2]->bytes);
  return std::llround(low + (high - low) * lag_before / (lag_before - lag_after));
}

/// "tree is fastest up to 16 KiB; ring overtakes it at 64 KiB"; on the virtual clock, where it can
/// be computed, "at about 41.3 KiB". Empty if nothing competes.
std::string tell(const std::vector<Rows>& contests, ClockKind clock) {
  std::string story;
  std::string champion;
  std::string previous_size;
  Rows previous;
  for (const Rows contest : contests) {
    const Row* best = winner_of(contest, clock);
    if (best == nullptr) {
      return "";
    }
    const std::string size = format_bytes(best->bytes);
    if (champion.empty()) {
      story = fmt::format("{} is fastest", label_of(*best));
      champion = label_of(*best);
    } else if (label_of(*best) != champion) {
      // A lead within the noise does not replace the fastest one.
      const Row* defender = row_of(contest, champion, clock);
      if (defender == nullptr || !could_be_equal(*defender, *best, clock)) {
        const auto crossing = clock == ClockKind::kVirtual
                                  ? crossover(previous, contest, champion, label_of(*best))
                                  : std::nullopt;
        story += fmt::format(" up to {}; {} overtakes it at {}, is fastest", previous_size,
                             label_of(*best), crossing ? "about " + format_bytes(*crossing) : size);
        champion = label_of(*best);
      }
    }
    previous_size = size;
    previous = contest;
  }
  // The last one is fastest up to the largest size.
  const std::string open_end = ", is fastest";
  if (story.ends_with(open_end)) {
    story.resize(story.size() - open_end.size());
  } else if (contests.size() > 1) {
    story += fmt::format(" at every size from {} to {}",
                         format_bytes(contests.front().front().bytes), previous_size);
  } else if (contests.front().front().bytes > 0) {
    story += fmt::format(" at {}", previous_size);
  }
  return story;
}

}  // namespace

const Row* winner_of(Rows contest, ClockKind clock) {
  const Row* best = nullptr;
  int rivals = 0;
  for (const Row& row : contest) {
    if (row.whose == Whose::kNative || !has_time(row, clock)) continue;
    ++rivals;
    if (best == nullptr || seconds_of(row, clock) < seconds_of(*best, clock) * (1 - kRounding)) {
      best = &row;
    }
  }
  return rivals > 1 ? best : nullptr;
}

std::string format_winners(const Plan& plan, const std::vector<Row>& rows) {
  // By collective and world size, in the order they were measured.
  std::vector<std::vector<Rows>> series;
  for_each_contest(rows, [&](Rows contest) {
    const Row& row = contest.front();
    if (series.empty() || series.back().front().front().collective != row.collective ||
        series.back().front().front().op != row.op ||
        series.back().front().front().world_size != row.world_size) {
      series.emplace_back();
    }
    series.back().push_back(contest);
  });

  std::string lines;
  for (const std::vector<Rows>& contests : series) {
    const Row& row = contests.front().front();
    if (row.world_size == 1) continue;
    const std::string what = fmt::format("{}, {} ranks", name_of(row.collective), row.world_size);
    for (const auto& [clock, where] : {std::pair{ClockKind::kWall, std::string("this machine")},
                                       std::pair{ClockKind::kVirtual, plan.cluster.name}}) {
      const std::string told = tell(contests, clock);
      if (!told.empty()) lines += fmt::format("{}, {}: {}.\n", what, where, told);
    }
  }
  return lines;
}

}  // namespace rankbox::cli
