#include "cli/compare/measure/worlds.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/compare/measure/backend.h"
#include "cli/compare/measure/baseline.h"
#include "comm/run_ranks.h"

namespace rankbox::cli {
namespace {

std::vector<int> world_sizes(const Plan& plan) {
  const int processes = launch().processes;
  return processes > 0 ? std::vector{processes} : plan.ranks;
}

// Starting a larger world takes seconds; its memory is known without that.
constexpr int kLargestTrial = 65'536;

/// Inserts the baselines of this contest after its native rows, or replaces these.
void insert_baselines(const std::vector<Row>& baselines, std::vector<Row>& rows) {
  std::vector<Row> of_contest;
  std::ranges::copy_if(baselines, std::back_inserter(of_contest), [&](const Row& baseline) {
    const Row& native = rows.front();
    return baseline.collective == native.collective && baseline.op == native.op &&
           baseline.elements == native.elements && baseline.world_size == native.world_size;
  });
  if (std::ranges::find(of_contest, kNative, &Row::algorithm) != of_contest.end())
    std::erase_if(rows, [](const Row& row) { return row.whose == Whose::kNative; });
  const auto at = std::ranges::count(rows, Whose::kNative, &Row::whose);
  rows.insert(rows.begin() + at, of_contest.begin(), of_contest.end());
  set_ratios(rows);
}

}  // namespace

void check_largest_world(const Plan& plan) {
  RunOptions options = run_options(plan, *std::ranges::max_element(plan.ranks));
  if (options.world_size > kLargestTrial) return static_cast<void>(rankbox::check_options(options));
  run_ranks(options, [](Comm&) {});
}

std::vector<std::string> measure_worlds(const Plan& plan, const Listener& listener,
                                        std::size_t first_contest) {
  const Algorithms algorithms = algorithms_in(plan);
  std::vector<std::string> failures;
  for (const int world_size : world_sizes(plan)) {
    std::vector<Contest> contests = contests_of(plan, world_size, algorithms);
    contests.erase(contests.begin(), contests.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                            first_contest, contests.size())));
    first_contest = 0;
    std::vector<Row> baselines;
    for (const Baseline& baseline : plan.baselines) {
      const BaselineRows measured = measure_baseline(world_size, baseline);
      baselines.insert(baselines.end(), measured.rows.begin(), measured.rows.end());
      if (!measured.failure.empty()) {
        failures.push_back(fmt::format("{} ({}) was not measured: {}", baseline.label,
                                       fmt::join(baseline.environment, " "), measured.failure));
      }
    }
    Listener with_baselines = listener;
    with_baselines.on_contest = [&](const std::vector<Row>& measured) {
      std::vector<Row> rows = measured;
      insert_baselines(baselines, rows);
      if (listener.on_contest) listener.on_contest(rows);
    };
    run_session(plan, std::move(contests), with_baselines);
  }
  return failures;
}

}  // namespace rankbox::cli
