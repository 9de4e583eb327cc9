#include "cli/compare/report/winners.h"

#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "cli/compare/report/report.h"
#include "cli/support/lists.h"

namespace rankbox::cli {
namespace {

/// Returns whether the row has a time on this clock.
bool has_time(const Row& row, ClockKind clock) {
  if (row.failure) return false;
  return clock == ClockKind::kWall ? row.time.has_value() : row.virtual_seconds.has_value();
}

double seconds_of(const Row& row, ClockKind clock) {
  return clock == ClockKind::kWall ? row.time->median : *row.virtual_seconds;
}

// Sums of the same terms in different orders count as equal.
constexpr double kRounding = 1e-9;

/// Returns whether the difference could be noise: the interquartile ranges of the samples overlap.
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

/// Returns the size between two measured ones at which `challenger` becomes faster than `fastest`:
/// virtual times are about linear there. None if it cannot be computed.
std::optional<std::int64_t> crossover(Rows before, Rows after, const std::string& fastest,
                                      const std::string& challenger) {
  using enum ClockKind;
  const Row* const ends[] = {row_of(before, fastest, kVirtual),
                             row_of(before, challenger, kVirtual), row_of(after, fastest, kVirtual),
                             row_of(after, challenger, kVirtual)};
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

/// Returns "tree is fastest up to 16 KiB; ring overtakes it at 64 KiB". On the virtual clock, gives
/// the computed size where possible: "at about 41.3 KiB". Empty if fewer than two topologies
/// compete.
std::string describe_winners(const std::vector<Rows>& contests, ClockKind clock) {
  std::string text;
  std::string fastest;
  std::string previous_size;
  Rows previous;
  for (const Rows contest : contests) {
    const Row* best = winner_of(contest, clock);
    if (best == nullptr) {
      return "";
    }
    const std::string size = format_bytes(best->bytes);
    if (fastest.empty()) {
      text = fmt::format("{} is fastest", label_of(*best));
      fastest = label_of(*best);
    } else if (label_of(*best) != fastest) {
      // A lead within the noise does not replace the fastest one.
      const Row* incumbent = row_of(contest, fastest, clock);
      if (incumbent == nullptr || !could_be_equal(*incumbent, *best, clock)) {
        const auto crossing = clock == ClockKind::kVirtual
                                  ? crossover(previous, contest, fastest, label_of(*best))
                                  : std::nullopt;
        text += fmt::format(" up to {}; {} overtakes it at {}, is fastest", previous_size,
                            label_of(*best), crossing ? "about " + format_bytes(*crossing) : size);
        fastest = label_of(*best);
      }
    }
    previous_size = size;
    previous = contest;
  }
  // The last one is fastest up to the largest size.
  const std::string open_end = ", is fastest";
  if (text.ends_with(open_end)) {
    text.resize(text.size() - open_end.size());
  } else if (contests.size() > 1) {
    text += fmt::format(" at every size from {} to {}",
                        format_bytes(contests.front().front().bytes), previous_size);
  } else if (contests.front().front().bytes > 0) {
    text += fmt::format(" at {}", previous_size);
  }
  return text;
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
  // By collective and world size, in the order of measurement.
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
      const std::string description = describe_winners(contests, clock);
      if (!description.empty()) lines += fmt::format("{}, {}: {}.\n", what, where, description);
    }
  }
  return lines;
}

}  // namespace rankbox::cli
