#include "cli/compare/report/winners.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/compare/plan/buffers.h"
#include "cli/compare/report/report.h"
#include "cli/support/lists.h"

namespace rankbox::cli {
namespace {

/// Returns whether the row has a time on this clock.
bool has_time(const Row& row, ClockKind clock) {
  if (row.failure || !row.skipped.empty()) return false;
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

/// Returns "naive, tree and ring".
std::string labels_in_words(const std::vector<std::string>& labels) {
  if (labels.size() == 1) return labels.front();
  return fmt::format("{} and {}", fmt::join(labels.begin(), labels.end() - 1, ", "), labels.back());
}

/// Returns the topologies whose virtual time is that of `best`, which is among them.
std::vector<std::string> equals_of(Rows contest, const Row& best, ClockKind clock) {
  if (clock == ClockKind::kWall) return {label_of(best)};
  std::vector<std::string> labels;
  for (const Row& row : contest) {
    if (row.whose == Whose::kNative || !has_time(row, clock)) continue;
    if (could_be_equal(row, best, clock)) labels.push_back(label_of(row));
  }
  return labels;
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

/// What grows from contest to contest of a series.
enum class Along { kSizes, kRanks };

/// Returns "16 KiB" or "8"; "" for a contest without a size.
std::string position_of(const Row& row, Along along) {
  if (along == Along::kRanks) return std::to_string(row.world_size);
  return row.bytes > 0 ? format_bytes(row.bytes) : "";
}

/// Consecutive sizes, or numbers of ranks, at which the same topology is fastest.
struct Lead {
  std::string label;
  std::vector<std::string> equals;  // that are as fast at all of them, with `label` itself
  std::string from;
  std::string to;
  std::string overtakes;  // "; ring overtakes tree at about 41.3 KiB", if that can be computed
};

/// Returns the leads in order; none if fewer than two topologies compete.
std::vector<Lead> leads_of(const std::vector<Rows>& contests, ClockKind clock, Along along) {
  std::vector<Lead> leads;
  Rows previous;
  for (const Rows contest : contests) {
    const Row* best = winner_of(contest, clock);
    if (best == nullptr) return {};
    const std::string here = position_of(*best, along);
    // A lead within the noise does not replace the fastest one.
    const Row* leader = leads.empty() ? nullptr : row_of(contest, leads.back().label, clock);
    if (leader != nullptr && (leader == best || could_be_equal(*leader, *best, clock))) {
      leads.back().to = here;
      const std::vector<std::string> equals = equals_of(contest, *leader, clock);
      std::erase_if(leads.back().equals, [&](const std::string& label) {
        return std::ranges::find(equals, label) == equals.end();
      });
    } else {
      Lead lead = {label_of(*best), equals_of(contest, *best, clock), here, here, ""};
      const bool may_cross =
          clock == ClockKind::kVirtual && along == Along::kSizes && !leads.empty();
      const auto crossing =
          may_cross ? crossover(previous, contest, leads.back().label, lead.label) : std::nullopt;
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

/// Returns "tree is fastest from 64 B to 16 KiB, ring at 64 KiB", or "tree and ring are". The
/// virtual clock adds where one overtakes the other. Empty if fewer than two topologies compete.
std::string describe_winners(const std::vector<Rows>& contests, ClockKind clock, Along along) {
  const char* const unit = along == Along::kRanks ? " ranks" : "";
  std::string text;
  std::string overtakes;
  for (const Lead& lead : leads_of(contests, clock, along)) {
    const char* const verb = lead.equals.size() > 1 ? " are fastest" : " is fastest";
    text += (text.empty() ? "" : ", ") + labels_in_words(lead.equals) + (text.empty() ? verb : "");
    if (lead.from != lead.to) {
      text += fmt::format(" from {} to {}{}", lead.from, lead.to, unit);
    } else if (!lead.from.empty()) {
      text += " at " + lead.from + unit;
    }
    overtakes += lead.overtakes;
  }
  return text + overtakes;
}

/// Returns the contests of one collective and operation at one requested size, by world size: the
/// sizes themselves are rounded to parts of equal size.
std::vector<Rows> contests_at(const std::vector<Rows>& all, const Row& like, std::int64_t bytes) {
  std::vector<Rows> found;
  for (const Rows contest : all) {
    const Row& row = contest.front();
    if (row.collective == like.collective && row.op == like.op &&
        row.elements == elements_of(row.collective, row.world_size, bytes)) {
      found.push_back(contest);
    }
  }
  std::ranges::stable_sort(found, {}, [](Rows rows) { return rows.front().world_size; });
  return found;
}

/// Returns which topology wins at each size on how many ranks; empty for one world size.
std::string format_winners_by_ranks(const Plan& plan, const std::vector<Row>& rows) {
  if (plan.ranks.size() < 2) return "";
  std::vector<Rows> all;
  for_each_contest(rows, [&](Rows contest) {
    if (contest.front().world_size > 1) all.push_back(contest);
  });
  std::string lines;
  std::vector<std::pair<CollectiveKind, ReduceOp>> seen;
  for (const Rows contest : all) {
    const Row& row = contest.front();
    const std::pair what(row.collective, row.op);
    if (row.bytes == 0 || std::ranges::find(seen, what) != seen.end()) continue;
    seen.push_back(what);
    for (const std::int64_t bytes : plan.sizes) {
      const std::string description =
          describe_winners(contests_at(all, row, bytes), ClockKind::kVirtual, Along::kRanks);
      if (description.empty()) continue;
      lines += fmt::format("{}, {}, {}: {}.\n", name_of(row.collective), format_bytes(bytes),
                           plan.cluster.name, description);
    }
  }
  return lines;
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
    for (const auto& [clock, where] : {std::pair{ClockKind::kVirtual, plan.cluster.name},
                                       std::pair{ClockKind::kWall, std::string("this machine")}}) {
      if (clock == ClockKind::kWall && shares_cores(plan, row.world_size)) continue;
      const std::string description = describe_winners(contests, clock, Along::kSizes);
      if (!description.empty()) lines += fmt::format("{}, {}: {}.\n", what, where, description);
    }
  }
  return plan.without_data ? lines + format_winners_by_ranks(plan, rows) : lines;
}

std::string note_on_native(const Plan& plan, const std::vector<Row>& rows) {
  if (plan.cluster.native.empty()) return "";
  int contests = 0;
  int ahead = 0;
  for_each_contest(rows, [&](Rows contest) {
    const Row* const native = row_of(contest, "native", ClockKind::kVirtual);
    const Row* const best = winner_of(contest, ClockKind::kVirtual);
    if (native == nullptr || best == nullptr) return;
    ++contests;
    if (!could_be_equal(*native, *best, ClockKind::kVirtual)) ++ahead;
  });
  if (ahead == 0) return "";
  return fmt::format(
      "In {} of {} worlds and sizes a topology is ahead of native. Believe it only when it is "
      "measured:\nmessages have the link's full rate from the first byte here, native times are "
      "those of machines\n(docs/limits.md, Clusters of GPUs).\n",
      ahead, contests);
}

std::string note_on_cores(const Plan& plan, const std::vector<Row>& rows) {
  std::set<int> worlds;
  for (const Row& row : rows) {
    if (row.time && shares_cores(plan, row.world_size)) worlds.insert(row.world_size);
  }
  if (worlds.empty()) return "";
  return fmt::format(
      "{} ranks take turns on {} core{}: there, time is what all ranks do together (copies, "
      "additions,\nswitches), not the longest chain of steps. Few messages often win then, at any "
      "size, so no winner\non this machine is named. Virtual time has a core for each rank.\n",
      fmt::join(worlds, ", "), plan.cores, plan.cores == 1 ? "" : "s");
}

}  // namespace rankbox::cli
