#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/picture/run_picture.h"
#include "cli/plugin/verdict_report.h"
#include "cli/run/program.h"
#include "cli/run/rank_output.h"
#include "cli/support/lists.h"
#include "cli/support/subcommands.h"
#include "comm/errors.h"
#include "comm/run_ranks.h"
#include "judge/failure_of.h"
#include "judge/faults.h"
#include "judge/stop_report.h"

namespace rankbox::cli {
namespace {

/// Of all ranks together, of a run that is not drawn: 16 MiB.
constexpr std::int64_t kEventsForNotes = std::int64_t{1} << 18;

struct Options {
  std::string library;
  std::string program;  // as JSON
};

std::string summary_of(const ProgramOptions& options, const RunReport& report,
                       const Cluster& cluster) {
  return fmt::format("{} on {} rank{}: {} of virtual time on {}\n{}took {:.3g} s here\n",
                     options.name, options.ranks, options.ranks == 1 ? "" : "s",
                     format_virtual(report.virtual_seconds), cluster.name, totals_of(report),
                     report.wall_seconds);
}

/// Reports a world that cannot be started here; no rank has run.
[[noreturn]] void refuse(const InvalidArgument& mistake) {
  report_line(fmt::format("mistake {}", mistake.what()));
  done_reporting();
  std::_Exit(2);
}

Verdict run_and_draw(void (*rank_main)(Comm&), const ProgramOptions& options,
                     const RunOptions& how) {
  RunReport report;
  std::optional<DeadlockError> deadlock;
  Verdict verdict = undecided(options.name);
  try {
    begin_rank_output();
    run_world(
        how,
        [&](Comm& dist) {
          use_signal_stack();
          rank_main(dist);
        },
        &report);
    end_rank_output();
  } catch (const std::exception& error) {
    end_rank_output();
    const auto* refused = dynamic_cast<const InvalidArgument*>(&error);
    if (refused != nullptr && refused->rank() < 0) refuse(*refused);
    if (const auto* proved = dynamic_cast<const DeadlockError*>(&error)) deadlock = *proved;
    verdict = failed_before_running(options.name, failure_of(error));
  }
  draw_run({.title = options.name,
            .above = "",
            .schedule = "",
            .summary = summary_of(options, report, how.cluster),
            .failure = verdict.failure ? verdict.failure->message : "",
            .cluster = how.cluster,
            .report = report,
            .deadlock = deadlock},
           options.picture);
  report_line("result " + figures_of(options, report));
  return verdict;
}

[[noreturn]] void run(const Options& given) {
  report_stops_to_parent(write_unfinished_lines);
  const ProgramOptions options = program_from_text(given.program);
  RunOptions how = run_options_of(options);
  record_for(options.picture, how);
  if (how.events_per_rank >= 0)
    how.events_per_rank = std::max(how.events_per_rank, kEventsForNotes / options.ranks);
  if (how.order == MessageOrder::kStream) how.events_per_rank = -1;
  const auto rank_main = reinterpret_cast<void (*)(Comm&)>(
      load_learners_function(options.name, given.library, kRankMain));
  report_and_exit(run_and_draw(rank_main, options, how));
}

}  // namespace

void add_run_library(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("run-library", "runs a compiled program (for internal use)");
  command->group("");  // hidden
  command->add_option("library", options->library)->required();
  command->add_option("--options", options->program)->required();
  command->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
