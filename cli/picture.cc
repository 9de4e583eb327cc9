#include "cli/picture.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/buffering.h"
#include "cli/paths.h"
#include "cli/stop_report.h"
#include "clusters/clusters.h"
#include "sim/clock.h"
#include "verdict/free_messages.h"
#include "viewer/html.h"
#include "viewer/schedule_grid.h"
#include "viewer/source_text.h"
#include "viewer/timeline.h"
#include "viewer/trace_events.h"
#include "viewer/wait_picture.h"

namespace rankbox::cli {
namespace {

Case case_of(const Exercise& exercise, const PictureOptions& options, int nodes) {
  Case example = first_case_of(exercise);
  example.world_size = options.ranks;
  if (example.nodes) example.nodes = nodes;
  if (example.root) example.root = options.root;
  if (example.segments) example.segments = options.segments > 0 ? options.segments : options.ranks;
  if (example.chunks) example.chunks = 2;
  if (example.replicas) example.replicas = options.ranks % 2 == 0 ? 2 : 1;
  if (example.count) example.count = options.count;
  if (example.op) example.op = find_reduce_op(options.op);
  if (example.bucket_bytes)  // a few of them
    example.bucket_bytes = std::max<std::int64_t>(1, 8 * kElementBytes * options.count);
  return example;
}

std::string summary(const Case& example, const RunReport& report, const Cluster& cluster) {
  return fmt::format(
      "{}: {:.4g} µs of virtual time on {}\n"
      "{} messages, {} bytes in all\n"
      "one after the other: {:g} steps, {:g} bytes sent, {:g} bytes added\n",
      to_string(example), report.virtual_seconds * 1e6, cluster.name, report.messages, report.bytes,
      report.cost.steps, report.cost.bytes, report.cost.reduced);
}

/// What ranks do when, if messages take no time, with a blank line below; empty if they do not say.
std::string schedule(const Exercise& exercise, const Case& example, const Trace& trace,
                     const PictureOptions& options) {
  const std::optional<IdleShare> promised = idle_share_of(exercise, example);
  if (!promised || !has_schedule(trace)) return "";
  const sim::Replay replay = sim::replay(trace, free_messages());
  const ScheduleGridOptions style = {
      .columns = options.columns, .ascii = options.ascii, .colour = options.colour};
  return draw_schedule(trace, replay, style) +
         fmt::format("idle, if messages take no time: {:.1f} % of the time; {} = {:.1f} %\n\n",
                     100 * unlabelled_share(trace, replay), promised->formula,
                     100 * promised->share);
}

/// Who waits for whom, with a blank line below; empty if nobody waits forever.
std::string waits(const Attempt& run, const PictureOptions& options) {
  if (!run.deadlock) return "";
  const WaitPictureOptions style = {
      .ascii = options.ascii, .colour = options.colour, .display_name = display_path};
  return draw_waits(*run.deadlock, style) + '\n';
}

// Buffers are looked at one by one, so a page shows their first elements, and of few ranks.
constexpr int kElements = 16;
constexpr int kMostRanksWithBuffers = 64;

std::ofstream open(const PictureOptions& options, const char* name) {
  std::ofstream file(options.folder + "/" + name);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  return file;
}

void write_page(const Exercise& exercise, const PictureOptions& options, const Case& example,
                const Attempt& run, const sim::Replay& replay) {
  SourceText sources;
  HtmlOptions html;
  html.title = exercise.name;
  html.summary = summary(example, run.report, cluster_named(options.cluster));
  if (run.failure) html.summary += run.failure->message + "\n";
  html.deadlock = run.deadlock;
  html.peak_bytes = run.report.peak_bytes;
  html.display_name = display_path;
  html.source_line = [&](const std::string& file, std::int64_t line) {
    return sources.line(file, line);
  };
  std::ofstream file = open(options, kHtmlFile);
  write_html(file, run.report.trace, replay, html);
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PictureOptions, folder, ranks, count, root, segments, op,
                                   cluster, buffering, columns, ascii, colour, trace, html)

std::string to_text(const PictureOptions& options) { return nlohmann::json(options).dump(); }

PictureOptions picture_from_text(const std::string& text) {
  return nlohmann::json::parse(text).get<PictureOptions>();
}

Verdict draw_picture(const Exercise& exercise, AnyFunction function,
                     const PictureOptions& options) {
  const Cluster cluster = cluster_named(options.cluster);
  RunOptions how;
  how.cluster = cluster;
  how.buffering = parse_buffering(options.buffering);
  how.nodes = cluster.nodes_for(options.ranks);
  if (options.html && options.ranks <= kMostRanksWithBuffers) how.snapshot_elements = kElements;
  const Case example = case_of(exercise, options, how.nodes);
  const Attempt run = attempt_exercise(exercise, function, example, how, use_signal_stack);

  const sim::Replay replay = sim::replay(run.report.trace, cluster);
  open(options, kTimelineFile) << schedule(exercise, example, run.report.trace, options)
                               << draw_timeline(run.report.trace, replay,
                                                {.columns = options.columns,
                                                 .ascii = options.ascii,
                                                 .colour = options.colour})
                               << '\n'
                               << waits(run, options) << summary(example, run.report, cluster);
  if (options.trace) {
    std::ofstream file = open(options, kTraceFile);
    write_trace_events(file, run.report.trace, replay);
  }

  if (options.html) write_page(exercise, options, example, run, replay);

  Verdict verdict = undecided(exercise.name);
  verdict.status = Status::kPass;
  const bool about_values = run.failure && run.failure->kind == FailureKind::kValues;
  if (run.failure && !(about_values && !is_exact(example))) {
    verdict.status =
        run.failure->kind == FailureKind::kNotImplemented ? Status::kNotImplemented : Status::kFail;
    verdict.failure = run.failure;
  }
  return verdict;
}

}  // namespace rankbox::cli
