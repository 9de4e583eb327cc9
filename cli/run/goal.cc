#include "cli/picture/goal.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/picture/run_picture.h"
#include "cli/run/outcome.h"
#include "cli/support/lists.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "comm/trace.h"
#include "sim/clock/clock.h"

namespace rankbox::cli {
namespace {

/// Returns the figures of its run, without the trace.
RunReport priced(const Trace& trace, const Cluster& cluster) {
  RunReport report;
  for (const std::vector<Event>& events : trace.ranks) {
    for (const Event& event : events) {
      if (event.kind != EventKind::kSend) continue;
      ++report.messages;
      report.bytes += event.bytes;
    }
  }
  report.clocks = measure_clocks(trace, cluster);
  for (const Clock& rank : report.clocks) {
    report.virtual_seconds = std::max(report.virtual_seconds, rank.seconds);
    report.cost.steps = std::max(report.cost.steps, rank.cost.steps);
    report.cost.bytes = std::max(report.cost.bytes, rank.cost.bytes);
  }
  return report;
}

}  // namespace

Outcome run_goal(const std::string& source, ProgramOptions& options) {
  std::ifstream file(source);
  if (!file) throw InvalidArgument(fmt::format("cannot read {}", display_path(source)));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Trace trace = read_goal(text, display_path(source));
  const auto ranks = static_cast<std::int64_t>(trace.ranks.size());
  options.ranks = static_cast<int>(ranks);
  const RunOptions how = run_options_of(options);
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    trace.nodes[static_cast<std::size_t>(rank)] = static_cast<int>(rank * how.nodes / ranks);
  RunReport report = priced(trace, how.cluster);
  Outcome outcome;
  outcome.verdict = undecided(options.name);
  outcome.figures = figures_of(options, report);  // without notes: groups of messages are not known
  report.trace = std::move(trace);
  draw_run({.title = options.name,
            .above = "",
            .schedule = "",
            .summary = fmt::format("{} on {} ranks: {} of virtual time on {}\n{}", options.name,
                                   options.ranks, format_virtual(report.virtual_seconds),
                                   how.cluster.name, totals_of(report)),
            .failure = "",
            .cluster = how.cluster,
            .report = report,
            .deadlock = {}},
           options.picture);
  return outcome;
}

}  // namespace rankbox::cli
