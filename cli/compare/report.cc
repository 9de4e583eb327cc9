#include "cli/compare/report.h"

#include <cmath>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/compare/lists.h"

namespace rankbox::cli {
namespace {

using Rows = std::span<const Row>;

/// Consecutive rows of one collective, world size and number of bytes: those that compete.
template <class Visit>
void for_each_contest(Rows rows, Visit visit) {
  while (!rows.empty()) {
    const Row& first = rows.front();
    std::size_t end = 1;
    while (end < rows.size() && rows[end].collective == first.collective &&
           rows[end].world_size == first.world_size && rows[end].bytes == first.bytes) {
      ++end;
    }
    visit(rows.first(end));
    rows = rows.subspan(end);
  }
}

enum class ClockKind { kWall, kVirtual };

double seconds_of(const Row& row, ClockKind clock) {
  return clock == ClockKind::kWall ? row.time.median : row.virtual_seconds;
}

// Two sums of the same terms in another order are equal.
constexpr double kRounding = 1e-9;

/// The fastest topology; null unless two or more compete. The first of equals.
const Row* winner_of(Rows contest, ClockKind clock) {
  const Row* best = nullptr;
  int rivals = 0;
  for (const Row& row : contest) {
    if (row.algorithm != "native") {
      ++rivals;
      best = best == nullptr || seconds_of(row, clock) < seconds_of(*best, clock) * (1 - kRounding)
                 ? &row
                 : best;
    }
  }
  return rivals > 1 ? best : nullptr;
}

/// True if the difference could be noise: the middle halves of the two samples overlap.
bool could_be_equal(const Row& a, const Row& b, ClockKind clock) {
  return clock == ClockKind::kWall ? a.time.q1 <= b.time.q3 && b.time.q1 <= a.time.q3
                                   : a.virtual_seconds <= b.virtual_seconds * (1 + kRounding);
}

/// "1.75 n": bytes in terms of the row's; "0" and "-" say it shorter.
std::string in_terms_of(double bytes, std::int64_t n) {
  if (n == 0 || bytes == 0) {
    return n == 0 ? "-" : "0";
  }
  return fmt::format("{:.4g} n", bytes / static_cast<double>(n));
}

std::string format_heading(const Plan& plan, const Row& row) {
  std::string heading = fmt::format("{}, {} rank{}", name_of(row.collective), row.world_size,
                                    row.world_size == 1 ? "" : "s");
  if (is_reducing(row.collective)) {
    heading += fmt::format(", {}", name_of(plan.op));
  }
  if (row.elements > 0) {
    heading += fmt::format(", n = {} ({} float32)", format_bytes(row.bytes), row.elements);
  }
  return heading;
}

std::string format_row(const Row& row, bool wins_here, bool wins_there) {
  const double spread =
      row.time.median > 0 ? 100 * (row.time.q3 - row.time.q1) / row.time.median : 0;
  const std::string busbw =
      row.bytes == 0 || row.world_size == 1 ? "-" : fmt::format("{:.3g}", row.busbw / 1e9);
  return fmt::format("{} {:<17} {:>9} {:>6} {:>9} {:>8} {:>15} {} {:>6} {:>9} {:>9}{}",
                     wins_here ? '*' : ' ', row.algorithm, format_seconds(row.time.median),
                     fmt::format("{:.0f} %", spread), fmt::format("{:.2f} x", row.vs_native), busbw,
                     format_seconds(row.virtual_seconds), wins_there ? '*' : ' ',
                     fmt::format("{:.0f}", row.cost.steps), in_terms_of(row.cost.bytes, row.bytes),
                     in_terms_of(row.cost.reduced, row.bytes),
                     row.wrong == 0 ? "" : fmt::format("  WRONG: {} elements", row.wrong));
}

const Row* row_of(Rows contest, const std::string& algorithm) {
  for (const Row& row : contest) {
    if (row.algorithm == algorithm) {
      return &row;
    }
  }
  return nullptr;
}

/// Where `challenger` becomes faster than `champion` between two sizes: virtual times are straight
/// lines there, or nearly. Null if that cannot be said.
std::optional<std::int64_t> crossover(Rows before, Rows after, const std::string& champion,
                                      const std::string& challenger) {
  const Row* const ends[] = {row_of(before, champion), row_of(before, challenger),
                             row_of(after, champion), row_of(after, challenger)};
  for (const Row* end : ends) {
    if (end == nullptr) {
      return std::nullopt;
    }
  }
  const double lag_before = ends[1]->virtual_seconds - ends[0]->virtual_seconds;
  const double lag_after = ends[3]->virtual_seconds - ends[2]->virtual_seconds;
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
      story = fmt::format("{} is fastest", best->algorithm);
      champion = best->algorithm;
    } else if (best->algorithm != champion) {
      // A champion is dethroned by more than noise.
      const Row* defender = row_of(contest, champion);
      if (defender == nullptr || !could_be_equal(*defender, *best, clock)) {
        const auto crossing = clock == ClockKind::kVirtual
                                  ? crossover(previous, contest, champion, best->algorithm)
                                  : std::nullopt;
        story += fmt::format(" up to {}; {} overtakes it at {}, is fastest", previous_size,
                             best->algorithm, crossing ? "about " + format_bytes(*crossing) : size);
        champion = best->algorithm;
      }
    }
    previous_size = size;
    previous = contest;
  }
  // The last champion's reign has no end that we saw.
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

std::string legend(const Plan& plan) {
  return fmt::format(
      "time         median of the iterations, each that of its slowest rank\n"
      "iqr          width of their middle half, in % of the median\n"
      "vs native    time / native time: above 1 is slower than the native collective\n"
      "GB/s         bus bandwidth, as nccl-tests define it\n"
      "{:<12} virtual time there (rankbox compare --list-clusters)\n"
      "steps, sent, added: exact coefficients of latency, bytes sent and bytes reduced\n"
      "*            the fastest topology: by time on the left, by virtual time on the right\n",
      plan.cluster.name);
}

std::string format_table(const Plan& plan, const std::vector<Row>& rows, bool colour) {
  std::string table;
  for_each_contest(rows, [&](Rows contest) {
    table += fmt::format("\n{}\n  {:<17} {:>9} {:>6} {:>9} {:>8} {:>15}   {:>6} {:>9} {:>9}\n",
                         format_heading(plan, contest.front()), "", "time", "iqr", "vs native",
                         "GB/s", plan.cluster.name, "steps", "sent", "added");
    const Row* here = winner_of(contest, ClockKind::kWall);
    const Row* there = winner_of(contest, ClockKind::kVirtual);
    for (const Row& row : contest) {
      const std::string line = format_row(row, &row == here, &row == there);
      const char* paint = row.wrong > 0 ? "\033[31m" : &row == here ? "\033[1;32m" : nullptr;
      table += colour && paint != nullptr ? fmt::format("{}{}\033[0m\n", paint, line) : line + "\n";
    }
  });
  return table;
}

std::string format_winners(const Plan& plan, const std::vector<Row>& rows) {
  // By collective and world size, in the order they were measured.
  std::vector<std::vector<Rows>> series;
  for_each_contest(rows, [&](Rows contest) {
    const Row& row = contest.front();
    if (series.empty() || series.back().front().front().collective != row.collective ||
        series.back().front().front().world_size != row.world_size) {
      series.emplace_back();
    }
    series.back().push_back(contest);
  });

  std::string lines;
  for (const std::vector<Rows>& contests : series) {
    const Row& row = contests.front().front();
    const std::string here = tell(contests, ClockKind::kWall);
    if (here.empty() || row.world_size == 1) {
      continue;
    }
    const std::string what = fmt::format("{}, {} ranks", name_of(row.collective), row.world_size);
    lines += fmt::format("{}, this machine: {}.\n", what, here);
    lines +=
        fmt::format("{}, {}: {}.\n", what, plan.cluster.name, tell(contests, ClockKind::kVirtual));
  }
  return lines;
}

}  // namespace rankbox::cli
