#include "cli/compare/report/winners.h"

#include <cmath>
#include <optional>
#include <utility>
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

/// Consecutive sizes at which the same topology is fastest.
struct Lead {
  std::string label;
  std::string from;
  std::string to;
  std::string overtakes;  // "; ring overtakes tree at about 41.3 KiB", if that can be computed
};

/// Returns the leads by size; none if fewer than two topologies compete.
std::vector<Lead> leads_of(const std::vector<Rows>& contests, ClockKind clock) {
  std::vector<Lead> leads;
  Rows previous;
  for (const Rows contest : contests) {
    const Row* best = winner_of(contest, clock);
    if (best == nullptr) return {};
    const std::string size = best->bytes > 0 ? format_bytes(best->bytes) : "";
    // A lead within the noise does not replace the fastest one.
    const Row* leader = leads.empty() ? nullptr : row_of(contest, leads.back().label, clock);
    if (leader != nullptr && (leader == best || could_be_equal(*leader, *best, clock))) {
      leads.back().to = size;
    } else {
      Lead lead = {label_of(*best), size, size, ""};
      const auto crossing = clock == ClockKind::kVirtual && !leads.empty()
                                ? crossover(previous, contest, leads.back().label, lead.label)
                                : std::nullopt;
      if (crossing) {
        lead.overtakes = fmt::format("; {} overtakes {} at about {}", lead.label,
                                     leads.back().label, format_bytes(*crossing));
      }
      leads.push_back(std::move(lead));
    }
    previous = contest;
  }
  return leads;
}

/// Returns "tree is fastest from 64 B to 16 KiB, ring at 64 KiB". The virtual clock adds where the
/// one overtakes the other. Empty if fewer than two topologies compete.
std::string describe_winners(const std::vector<Rows>& contests, ClockKind clock) {
  std::string text;
  std::string overtakes;
  for (const Lead& lead : leads_of(contests, clock)) {
    text += (text.empty() ? "" : ", ") + lead.label + (text.empty() ? " is fastest" : "");
    if (lead.from != lead.to) {
      text += fmt::format(" from {} to {}", lead.from, lead.to);
    } else if (!lead.from.empty()) {
      text += " at " + lead.from;
    }
    overtakes += lead.overtakes;
  }
  return text + overtakes;
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
