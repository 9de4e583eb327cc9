#include "cli/picture/picture.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/picture/picture_style_json.h"
#include "cli/support/lists.h"
#include "cli/support/options.h"
#include "comm/trace.h"
#include "judge/faults.h"
#include "judge/free_messages.h"
#include "judge/run_case.h"
#include "judge/stop_report.h"
#include "sim/clock/clock.h"
#include "sim/clusters/clusters.h"
#include "viewer/schedule_grid.h"

namespace rankbox::cli {
namespace {

constexpr int kMostUsualSegments = 64;

Case case_of(const Exercise& exercise, const PictureOptions& options, int nodes) {
  Case example = first_case_of(exercise);
  if (!options.replay.empty()) return parse_case(options.replay, example);
  example.world_size = options.ranks;
  if (example.nodes) example.nodes = nodes;
  if (example.root) example.root = options.root;
  // Of an interleaved schedule, as many as the ranks or a multiple.
  const int usual = example.chunks ? options.ranks : std::min(options.ranks, kMostUsualSegments);
  if (example.segments) example.segments = options.segments > 0 ? options.segments : usual;
  if (example.chunks) example.chunks = 2;
  if (example.replicas) example.replicas = options.ranks % 2 == 0 ? 2 : 1;
  if (example.count) example.count = options.count;
  if (example.op) example.op = find_reduce_op(options.op);
  if (example.bucket_bytes)  // several buckets
    example.bucket_bytes = std::max<std::int64_t>(1, 8 * kElementBytes * options.count);
  return example;
}

std::string summary(const Case& example, const RunReport& report, const Cluster& cluster) {
  return fmt::format("{}: {} of virtual time on {}\n{}", to_string(example),
                     format_virtual(report.virtual_seconds), cluster.name, totals_of(report));
}

/// Returns the schedule if messages take no time, and a blank line; empty if the trace has no
/// schedule, or only its beginning.
std::string schedule(const Exercise& exercise, const Case& example, const Trace& trace,
                     const PictureOptions& options) {
  const Subject subject = subject_of(exercise);
  if (trace.left_out > 0) return "";  // idle shares are those of whole runs
  if (!subject.idle_share || !has_schedule(trace)) return "";
  const IdleShare promised = subject.idle_share(example);
  const Replay replay = replay_trace(trace, free_messages());
  const ScheduleGridOptions style = {.columns = options.style.columns,
                                     .ascii = options.style.ascii,
                                     .colour = options.style.colour};
  return draw_schedule(trace, replay, style) +
         fmt::format("idle, if messages take no time: {:.1f} % of the time; {} = {:.1f} %\n\n",
                     100 * unlabelled_share(trace, replay), promised.formula, 100 * promised.share);
}

/// A page does not depend on the terminal.
PictureOptions of_page(PictureOptions options) {
  options.style.columns = 200;
  options.style.colour = false;
  options.style.ascii = false;
  return options;
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PictureOptions, style, ranks, count, root, segments, op, cluster,
                                   buffering, order, replay)

std::optional<PictureOptions> picture_after(const Exercise& exercise, const Verdict& verdict) {
  if (!sends_messages(exercise)) return std::nullopt;
  std::optional<Case> drawn;
  if (verdict.passed()) drawn = typical_case_of(exercise);
  if (verdict.status == Status::kFail && verdict.failure->kind != FailureKind::kTimeout)
    drawn = case_of_replay(exercise, verdict.failure->replay);
  if (!drawn) return std::nullopt;
  PictureOptions picture;
  picture.ranks = drawn->world_size;
  picture.cluster = cluster_presets().front().name;
  picture.replay = to_string(*drawn);
  return picture;
}

std::string to_text(const PictureOptions& options) { return nlohmann::json(options).dump(); }

PictureOptions picture_from_text(const std::string& text) {
  return nlohmann::json::parse(text).get<PictureOptions>();
}

Verdict draw_picture(const Exercise& exercise, AnyFunction function,
                     const PictureOptions& options) {
  const Cluster cluster = cluster_named(options.cluster);
  RunOptions how;
  how.world_size = options.ranks;
  how.cluster = cluster;
  how.buffering = parse_buffering(options.buffering);
  how.order = parse_order(options.order);
  how.executor = executor_named("auto", options.ranks);
  if (options.replay.empty()) how.nodes = cluster.nodes_for(options.ranks);
  record_for(options.style, how);
  if (how.order == MessageOrder::kStream) how.events_per_rank = -1;
  const Case example = case_of(exercise, options, how.nodes);
  CaseRun run =
      run_case(subject_of(exercise, function), example, how, {.entering = use_signal_stack});

  const bool is_stub = run.failure && run.failure->kind == FailureKind::kNotImplemented &&
                       std::ranges::all_of(run.report.trace.ranks, &std::vector<Event>::empty);
  draw_run({.title = exercise.name,
            .above = schedule(exercise, example, run.report.trace, options),
            .schedule = options.style.html
                            ? schedule(exercise, example, run.report.trace, of_page(options))
                            : "",
            .summary = summary(example, run.report, cluster),
            .failure = run.failure ? run.failure->message : "",
            .cluster = cluster,
            .report = run.report,
            .deadlock = run.deadlock,
            .has_begun = !is_stub},
           options.style);

  const bool about_values = run.failure && run.failure->kind == FailureKind::kValues;
  if (run.failure && !(about_values && !is_exact(example)))
    return failed_before_running(exercise.name, *run.failure);
  Verdict verdict = undecided(exercise.name);
  verdict.status = Status::kPass;
  return verdict;
}

}  // namespace rankbox::cli
