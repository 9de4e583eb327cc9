#include "cli/picture/run_picture.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "cli/support/paths.h"
#include "cli/support/terminal.h"
#include "files/output_file.h"
#include "replay/clock.h"
#include "viewer/html.h"
#include "viewer/source_text.h"
#include "viewer/timeline.h"
#include "viewer/trace_events.h"
#include "viewer/wait_picture.h"

namespace rankbox::cli {
namespace {

// Readers inspect buffers one by one, so a page shows their first elements, of few ranks.
constexpr int kElements = 16;
constexpr int kMostRanksWithBuffers = 64;

/// Returns the wait-for picture, with a blank line below; empty if no rank waits forever.
std::string waits(const RunToDraw& run, const PictureStyle& style) {
  if (!run.deadlock) return "";
  return draw_waits(*run.deadlock,
                    {.ascii = style.ascii, .colour = style.colour, .display_name = display_path}) +
         '\n';
}

std::ofstream open(const PictureStyle& style, const char* name) {
  std::ofstream file(style.folder + "/" + name);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  return file;
}

void write_page(const RunToDraw& run, const PictureStyle& style, const Replay& replay) {
  SourceText sources;
  HtmlOptions html;
  html.title = run.title;
  html.summary = run.summary;
  if (!run.failure.empty()) html.summary += run.failure + "\n";
  html.deadlock = run.deadlock;
  html.peak_bytes = run.report.peak_bytes;
  html.display_name = display_path;
  html.source_line = [&](const std::string& file, std::int64_t line) {
    return sources.line(file, line);
  };
  std::ofstream file = open(style, kHtmlFile);
  write_html(file, run.report.trace, replay, html);
}

/// @param from does not exist if the run ended earlier
void copy_out(const std::string& from, const std::string& to, const char* how_to_open, bool quiet) {
  if (to.empty() || !std::filesystem::exists(from)) return;
  copy_file_to(from, to);
  if (!quiet) fmt::print("wrote {} (open it in {})\n", to, how_to_open);
}

}  // namespace

PictureStyle style_here(const std::string& folder) {
  PictureStyle style;
  style.folder = folder;
  style.columns = terminal_width();
  style.ascii = !has_utf8();
  style.colour = use_colour();
  return style;
}

void record_for(const PictureStyle& style, RunOptions& options) {
  if (style.html && options.world_size <= kMostRanksWithBuffers)
    options.snapshot_elements = kElements;
}

std::string totals_of(const RunReport& report) {
  return fmt::format(
      "{} message{}, {} bytes in all\n"
      "one after the other: {:g} steps, {:g} bytes sent, {:g} bytes added\n",
      report.messages, report.messages == 1 ? "" : "s", report.bytes, report.cost.steps,
      report.cost.bytes, report.cost.reduced);
}

void draw_run(const RunToDraw& run, const PictureStyle& style) {
  const Trace& trace = run.report.trace;
  const Replay replay = replay_trace(trace, run.cluster);
  open(style, kTimelineFile) << run.above
                             << draw_timeline(trace, replay,
                                              {.columns = style.columns,
                                               .ascii = style.ascii,
                                               .colour = style.colour})
                             << '\n'
                             << waits(run, style) << run.summary;
  if (style.trace) {
    std::ofstream file = open(style, kTraceFile);
    write_trace_events(file, trace, replay);
  }
  if (style.html) write_page(run, style, replay);
}

void show_pictures(const std::string& folder, const std::string& trace, const std::string& html,
                   bool quiet) {
  const std::string timeline = folder + "/" + kTimelineFile;
  if (!quiet && std::filesystem::exists(timeline)) {
    std::ostringstream text;
    text << std::ifstream(timeline).rdbuf();
    fmt::print("{}", text.str());
  }
  copy_out(folder + "/" + kTraceFile, trace, "ui.perfetto.dev or chrome://tracing", quiet);
  copy_out(folder + "/" + kHtmlFile, html, "any browser", quiet);
}

}  // namespace rankbox::cli
