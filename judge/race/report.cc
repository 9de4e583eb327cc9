#include "judge/race/report.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "judge/race/grouped.h"
#include "judge/race/histogram.h"
#include "judge/race/interleaving.h"

namespace rankbox {
namespace {

std::string painted(std::string_view text, int color, const ReportStyle& style) {
  return style.color ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : std::string(text);
}

constexpr int kBold = 1;
constexpr int kRed = 31;
constexpr int kGreen = 32;

std::string of_runs(std::int64_t some, std::size_t all) {
  return fmt::format("{} of {} {}", grouped(some), grouped(static_cast<std::int64_t>(all)),
                     all == 1 ? "run" : "runs");
}

/// Returns "7 of 7 runs".
std::string runs_at_zero(const Measured& measured) {
  const auto runs = static_cast<std::int64_t>(measured.outcomes.size());
  return of_runs(runs - measured.wrong(), measured.outcomes.size());
}

}  // namespace

std::int64_t Measured::wrong() const {
  return std::ranges::count_if(outcomes,
                               [](const RaceOutcome& run) { return run.final_value != 0; });
}

std::vector<double> Measured::nanoseconds() const {
  std::vector<double> sorted;
  const double updates = static_cast<double>(threads) * static_cast<double>(repeats);
  if (updates == 0) return sorted;
  for (const RaceOutcome& run : outcomes) sorted.push_back(run.seconds * 1e9 / updates);
  std::ranges::sort(sorted);
  return sorted;
}

std::vector<std::string> heading(std::string_view text, const ReportStyle& style) {
  return {"", painted(text, kBold, style), ""};
}

std::vector<std::string> question(const RaceProgram& program, const ReportStyle& style) {
  const auto line = [&](const char* who, char sign) {
    return fmt::format("  {}  {:>3} x   for {} turns: value = value {} {}", who,
                       program.threads / 2, grouped(program.repeats), sign, program.amount);
  };
  std::vector<std::string> lines = {
      painted("What do you expect?", kBold, style),
      "",
      fmt::format("  value = 0, shared by {} threads", program.threads),
      line("adder     ", '+'),
      line("subtractor", '-'),
      "",
      "All threads run at once. What is value when the last has ended?",
      "Is it the same in every run?",
  };
  if (program.delay > 0) {
    lines.insert(lines.begin() + 5,
                 fmt::format("  between its load and its store, a thread computes for {} ns",
                             grouped(program.delay)));
  }
  return lines;
}

std::vector<std::string> distribution(const Measured& race, unsigned cores,
                                      const ReportStyle& style) {
  const std::size_t runs = race.outcomes.size();
  std::vector<std::int64_t> finals;
  std::ranges::transform(race.outcomes, std::back_inserter(finals), &RaceOutcome::final_value);

  std::vector<std::string> lines =
      heading(fmt::format("Where it ended in {} {}", grouped(static_cast<std::int64_t>(runs)),
                          runs == 1 ? "run" : "runs"),
              style);
  std::ranges::move(histogram(finals, {.width = style.width, .color = style.color}),
                    std::back_inserter(lines));
  lines.emplace_back("");
  const auto right = static_cast<std::int64_t>(runs) - race.wrong();
  if (race.wrong() == 0) {
    lines.push_back(painted(fmt::format("Exactly 0 in {}.", of_runs(right, runs)), kGreen, style));
    lines.push_back(
        fmt::format("The race is still there; it did not show with {} {}. Try more --repeats.",
                    cores, cores == 1 ? "core" : "cores"));
    return lines;
  }
  std::int64_t worst = 0;
  for (const std::int64_t value : finals) worst = std::max(worst, value < 0 ? -value : value);
  lines.push_back(
      painted(fmt::format("Exactly 0 in {}; > marks where it should be.", of_runs(right, runs)),
              kRed, style));
  lines.push_back(fmt::format("Furthest off by {}: at least {} of {} updates were lost.",
                              grouped(worst), grouped(worst / race.amount),
                              grouped(race.threads * race.repeats)));
  return lines;
}

std::vector<std::string> cost_table(const std::vector<Measured>& variants,
                                    const ReportStyle& style) {
  constexpr std::string_view kRow = "{:<8}  {:<19}  {:>9}  {:>16}  {}";
  std::vector<std::string> lines = {
      fmt::format(kRow, "", "ended at 0", "ns/update", "from .. to", "threads x updates")};
  for (const Measured& variant : variants) {
    const std::vector<double> ns = variant.nanoseconds();
    const std::string median = ns.empty() ? "-" : fmt::format("{:.1f}", ns[ns.size() / 2]);
    const std::string spread =
        ns.empty() ? "-" : fmt::format("{:.1f} .. {:.1f}", ns.front(), ns.back());
    const std::string finals =  // padded first: color codes take no columns
        painted(fmt::format("{:<19}", runs_at_zero(variant)), variant.wrong() > 0 ? kRed : kGreen,
                style);
    const std::string updates = fmt::format("{} x {}", variant.threads, grouped(variant.repeats));
    lines.push_back(fmt::format(kRow, variant.name, finals, median, spread, updates));
  }
  for (const char* remark : {
           "",
           "  mutex     a lock held from load to store: protects any number of statements",
           "  atomic    load, add and store in one instruction: for a single number",
           "  messages  nothing shared: one rank owns the value, the others send it updates,",
           "            here one message for each (so fewer of them). Better: add up first,",
           "            and send once. That is a reduction: chapter 3.",
           "",
           "ns/update: median wall time of a run, divided by the updates of all threads.",
       }) {
    lines.emplace_back(remark);
  }
  return lines;
}

std::vector<std::string> interleaving_lines(std::int64_t amount, const ReportStyle& style) {
  const Amounts amounts = {amount, -amount};
  std::vector<std::string> lines = interleaving_table(kLosingSchedule, amounts);
  const std::vector<Moment> moments = play(kLosingSchedule, amounts);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    std::string& line = lines[lines.size() - moments.size() + i];
    if (moments[i].overwrote) line = painted(line, kRed, style);
  }
  return lines;
}

std::vector<std::string> conclusion(const ReportStyle& style) {
  const std::vector<Schedule> schedules = all_schedules();
  const auto losing = std::ranges::count_if(schedules, loses_update);
  return {
      "",
      fmt::format(
          "`value = value + 1` is three steps. The steps of two threads can interleave in {}",
          schedules.size()),
      fmt::format("ways, and {} of them lose an update: all but the {} in which one thread is done",
                  losing, static_cast<std::ptrdiff_t>(schedules.size()) - losing),
      "before the other begins.",
      "",
      painted("Try", kBold, style),
      "  --repeats 100 and --repeats 10000; --threads 8; --amount 5; --step",
      "  --repeats 1000 --delay 0, and --delay 1000: longer between load and store",
      "  and fix it yourself: the exercise `race`.",
  };
}

}  // namespace rankbox
