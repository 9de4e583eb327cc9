// Pictures of one run: a timeline as text, trace-event JSON, and a page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/cluster.h"
#include "comm/errors.h"
#include "comm/run_options.h"

namespace rankbox::cli {

inline constexpr const char* kTimelineFile = "timeline.txt";
inline constexpr const char* kWaitsFile = "waits.json";
inline constexpr const char* kTraceFile = "trace.json";
inline constexpr const char* kHtmlFile = "run.html";
inline constexpr const char* kSvgFile = "pieces.svg";
inline constexpr const char* kGoalFile = "run.goal";

/// Returns the policy of the page, see html_policy().
std::string page_policy();

/// A million events take some hundred megabytes.
inline constexpr std::int64_t kMostPictureBytes = std::int64_t{1} << 32;

/// The content and form of a picture.
struct PictureStyle {
  std::string folder;  // for kTimelineFile and, if requested, the other files
  int columns = 80;
  bool ascii = false;
  bool colour = false;
  bool timeline = true;  // write kTimelineFile
  bool waits = false;    // write kWaitsFile, if the run deadlocks: waits_json()
  bool trace = false;    // write kTraceFile: trace-event JSON
  bool html = false;     // write kHtmlFile
  bool svg = false;      // write kSvgFile: kSvgHelp
  bool goal = false;     // write kGoalFile: the schedule for LogGOPSim (goal.h)
};

/// Returns the style for standard output.
PictureStyle style_here(const std::string& folder);

/// A run to draw. The report of a failed run ends at the failure.
struct RunToDraw {
  std::string title;
  std::string above;     // text above the timeline, ending in a blank line; or empty
  std::string schedule;  // for the page, as HtmlOptions::schedule
  std::string summary;   // lines below the timeline
  std::string failure;   // the message of the error that ended the run; empty on success
  Cluster cluster;
  RunReport& report;  // draw_run() drops events that a thinned trace does not complete
  std::optional<DeadlockError> deadlock;  // if it ended in one
  bool has_begun = true;                  // false: a stub without a call, which has no timeline
};

/// Sets the recording options that the picture needs: only a page needs buffers. A picture shows at
/// most some million events, so a long run keeps the first of each rank, and none without a
/// picture.
void record_for(const PictureStyle& style, RunOptions& options);

/// Returns "24 messages, …" and "most on any path: …", a line each. Paths overlap: one may have the
/// most steps, another the most bytes.
std::string totals_of(const RunReport& report);

/// Writes the files. Throws std::ios_base::failure where they cannot be written.
void draw_run(RunToDraw run, const PictureStyle& style);

inline constexpr const char* kSvgHelp =
    "write an animated picture to this file: what each rank holds, or a pipeline's schedule";

/// Where to copy files to; empty: not requested.
struct PictureFiles {
  std::string trace;
  std::string html;
  std::string svg;
  std::string goal;
};

/// Throws InvalidArgument if one cannot be written.
void check_files(const PictureFiles& files);

/// Throws InvalidArgument with the reason if a schedule or a picture of pieces was asked for, and a
/// run that ended well has none: it has native collectives, or moves no pieces.
void require_files(const std::string& folder, const PictureFiles& files);

/// Prints the timeline, if there is one, and copies the other files to their paths. Returns whether
/// it printed a timeline.
/// @param quiet prints neither the timeline nor the paths written
bool show_pictures(const std::string& folder, const PictureFiles& files, bool quiet = false);

}  // namespace rankbox::cli
