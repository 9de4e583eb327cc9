#include "cli/picture/run_picture.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/picture/goal.h"
#include "cli/support/paths.h"
#include "cli/support/terminal.h"
#include "files/foreign_file.h"
#include "files/output_file.h"
#include "sim/clock/clock.h"
#include "viewer/held_svg.h"
#include "viewer/html.h"
#include "viewer/messages.h"
#include "viewer/schedule_grid.h"
#include "viewer/schedule_svg.h"
#include "viewer/source_text.h"
#include "viewer/timeline.h"
#include "viewer/trace_events.h"
#include "viewer/wait_picture.h"
#include "viewer/waits_json.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;

// Readers inspect buffers one by one, so a page shows their first elements, of few ranks.
constexpr int kElements = 16;
constexpr int kMostRanksWithBuffers = 64;
constexpr int kMostNotes = 200'000;  // of all ranks, 40 bytes each
// 128 MiB. Later events of a run are counted in its figures, but not drawn.
constexpr std::int64_t kMostEvents = std::int64_t{1} << 21;
constexpr std::int64_t kFewestEventsOfRank = 8;
constexpr const char* kNoGoalFile = "no_goal.txt";  // why a run has no schedule
constexpr const char* kNoSvgFile = "pieces_reason.txt";

/// Drops what the kept events do not complete: it would look as if its rank waited forever. A
/// rank's events end before its first such wait; started operations before that take no time.
void drop_unfinished(Trace& trace, Replay& replay) {
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    std::vector<Span>& spans = replay.spans[rank];
    std::size_t kept = 0;
    double now = 0;
    for (; kept < spans.size(); ++kept) {
      Span& span = spans[kept];
      const bool is_finished = span.end >= span.begin;
      if (!is_finished && !trace.ranks[rank][kept].async) break;
      if (!is_finished) span = {now, now};
      if (!trace.ranks[rank][kept].async) now = span.end;
    }
    trace.left_out += static_cast<std::int64_t>(spans.size() - kept);
    spans.resize(kept);
    trace.ranks[rank].resize(kept);
  }
  for (std::size_t rank = 0; rank < trace.snapshots.size(); ++rank) {
    std::erase_if(trace.snapshots[rank],
                  [&](const Snapshot& each) { return each.event >= trace.ranks[rank].size(); });
  }
}

/// Returns a line on what is not drawn; empty if all is.
std::string note_on_left_out(const Trace& trace) {
  if (trace.left_out == 0) return "";
  std::size_t most = 0;
  for (const std::vector<Event>& events : trace.ranks) most = std::max(most, events.size());
  return fmt::format(
      "drawn: the first events of each rank, at most {}; {} later ones are only counted\n", most,
      trace.left_out);
}

/// Returns the wait-for picture, with a blank line below; empty if no rank waits forever.
std::string waits(const RunToDraw& run, const PictureStyle& style) {
  if (!run.deadlock) return "";
  return draw_waits(*run.deadlock,
                    {.ascii = style.ascii, .colour = style.colour, .display_name = display_path}) +
         '\n';
}

/// Returns what native collectives moved, which are no messages of the program; empty without any.
std::string native_collectives_in(const Trace& trace) {
  std::int64_t calls = 0;  // one for all ranks of its group
  std::int64_t bytes = 0;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    for (const Event& event : trace.ranks[rank]) {
      if (event.kind != EventKind::kCollective) continue;
      const std::vector<int>& group = trace.groups[static_cast<std::size_t>(event.group)];
      if (group.empty() || group.front() == static_cast<int>(rank)) ++calls;
      bytes += event.bytes;
    }
  }
  if (calls == 0) return "";
  return fmt::format("{}{} native collective{}, to which ranks gave {} bytes in all",
                     trace.left_out > 0 ? "at least " : "", calls, calls == 1 ? "" : "s", bytes);
}

/// Returns "; 1 of them arrived" if a rank is still in a call: the report counts messages when they
/// are sent. Empty if all arrived, or if the trace does not show it.
std::string arrived_of(const RunReport& report) {
  const Trace& trace = report.trace;
  const auto is_open = [](const Event& event) { return !event.done && !event.async; };
  const bool stopped = std::ranges::any_of(trace.ranks, [&](const std::vector<Event>& events) {
    return std::ranges::any_of(events, is_open);
  });
  if (!stopped || trace.left_out > 0) return "";
  std::int64_t arrived = 0;
  for (const Message& message : match_messages(trace)) {
    const Event& recv =
        trace.ranks[static_cast<std::size_t>(message.recv.rank)][message.recv.event];
    if (!is_open(recv)) ++arrived;
  }
  if (arrived >= report.messages) return "";
  return fmt::format("; {} of them arrived", arrived);
}

std::ofstream open_output(const PictureStyle& style, const char* name) {
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
  html.source_lines = [&](const std::string& file) { return sources.lines(file); };
  html.schedule = run.schedule;
  // A process that is killed while it writes leaves no page, rather than half of one.
  const std::string part = std::string(kHtmlFile) + ".part";
  std::ofstream file = open_output(style, part.c_str());
  write_html(file, run.report.trace, replay, html);
  file.close();
  std::filesystem::rename(style.folder + "/" + part, style.folder + "/" + kHtmlFile);
}

/// Writes what `write` writes, or to `reason` why there is none.
template <class Write>
void write_or_say_why(const PictureStyle& style, const char* name, const char* reason,
                      Write write) {
  std::ostringstream text;
  try {
    write(text);
    open_output(style, name) << text.str();
  } catch (const InvalidArgument& why) {
    open_output(style, reason) << why.what();
  }
}

/// @param from does not exist if the run ended earlier
void copy_out(const std::string& from, const std::string& to, const char* use, bool quiet) {
  if (to.empty()) return;
  const std::optional<std::string> text = read_foreign_file(from, kMostPictureBytes);
  if (!text) return;
  write_file(to, *text);
  if (!quiet) fmt::print("{}\n", fit(fmt::format("wrote {} ({})", to, use)));
}

}  // namespace

std::string page_policy() { return std::string(html_policy()); }

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
  if (options.snapshot_elements > 0 || style.svg)
    options.memory_notes = kMostNotes / options.world_size;
  const bool is_drawn = style.timeline || style.trace || style.html || style.svg;
  options.events_per_rank = style.goal ? -1
                            : is_drawn
                                ? std::max(kFewestEventsOfRank, kMostEvents / options.world_size)
                                : 0;
}

std::string totals_of(const RunReport& report) {
  const std::string messages = fmt::format("{} message{}, {} bytes in all", report.messages,
                                           report.messages == 1 ? "" : "s", report.bytes);
  const std::string natives = native_collectives_in(report.trace);
  const std::string moved = natives.empty()        ? messages
                            : report.messages == 0 ? natives
                                                   : messages + "; " + natives;
  return fmt::format(
      "{}\n"
      "most on any path: {:g} step{}, {:g} bytes sent, {:g} bytes added\n",
      moved + arrived_of(report), report.cost.steps, report.cost.steps == 1 ? "" : "s",
      report.cost.bytes, report.cost.reduced);
}

void draw_run(RunToDraw run, const PictureStyle& style) {
  if (style.waits && run.deadlock) {
    // A header's name may be no UTF-8.
    open_output(style, kWaitsFile) << waits_json(*run.deadlock, display_path)
                                          .dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  if (!style.timeline && !style.trace && !style.html && !style.svg && !style.goal) return;
  Trace& trace = run.report.trace;
  Replay replay = replay_trace(trace, run.cluster);
  if (trace.left_out > 0) drop_unfinished(trace, replay);
  run.summary = note_on_left_out(trace) + run.summary;
  if (style.goal && run.failure.empty()) {
    write_or_say_why(style, kGoalFile, kNoGoalFile,
                     [&](std::ostream& out) { write_goal(out, trace, run.cluster.gamma); });
  }
  if (style.svg) {
    write_or_say_why(style, kSvgFile, kNoSvgFile, [&](std::ostream& out) {
      const auto write_schedule = [&] {
        write_schedule_svg(out, run.title, run.failure, trace, replay);
      };
      if (has_schedule(trace)) return write_schedule();
      std::ostringstream held;  // nothing of it, if there is no such picture
      try {
        write_held_svg(held, run.title + ": what each rank holds", run.failure, trace, replay);
      } catch (const InvalidArgument&) {
        if (!has_labels(trace)) throw;
        return write_schedule();
      }
      out << held.str();
    });
  }
  if (run.has_begun) {
    open_output(style, kTimelineFile)
        << run.above
        << draw_timeline(trace, replay,
                         {.columns = style.columns, .ascii = style.ascii, .colour = style.colour})
        << '\n'
        << waits(run, style) << run.summary;
  }
  if (style.trace) {
    std::ofstream file = open_output(style, kTraceFile);
    write_trace_events(file, trace, replay);
  }
  if (style.html) write_page(run, style, replay);
}

void check_files(const PictureFiles& files) {
  if (!files.html.empty()) check_writable("--html", files.html);
  if (!files.trace.empty()) check_writable("--trace", files.trace);
  if (!files.svg.empty()) check_writable("--svg", files.svg);
  if (!files.goal.empty()) check_writable("--goal", files.goal);
}

void require_files(const std::string& folder, const PictureFiles& files) {
  constexpr std::int64_t kMostBytes = 4096;
  for (const auto& [wanted, name] :
       {std::pair(&files.goal, kNoGoalFile), std::pair(&files.svg, kNoSvgFile)}) {
    if (wanted->empty()) continue;
    if (const auto why = read_foreign_file(folder + "/" + name, kMostBytes))
      throw InvalidArgument(*why);
  }
}

bool show_pictures(const std::string& folder, const PictureFiles& files, bool quiet) {
  std::optional<std::string> timeline;
  if (!quiet) timeline = read_foreign_file(folder + "/" + kTimelineFile, kMostPictureBytes);
  if (timeline) fmt::print("{}", fit(*timeline));
  copy_out(folder + "/" + kTraceFile, files.trace, "open it in ui.perfetto.dev or chrome://tracing",
           quiet);
  copy_out(folder + "/" + kHtmlFile, files.html, "open it in any browser", quiet);
  copy_out(folder + "/" + kSvgFile, files.svg, "an animated picture, for any page", quiet);
  copy_out(folder + "/" + kGoalFile, files.goal, "a schedule for LogGOPSim, or ./rankbox run",
           quiet);
  return timeline.has_value();
}

}  // namespace rankbox::cli
