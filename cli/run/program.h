// `rankbox run`: the options and the results of a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/picture/run_picture.h"
#include "comm/run_options.h"
#include "judge/verdict.h"

namespace rankbox::cli {

/// The function that a user's program has (cli/rank_main.h).
inline constexpr const char* kRankMain = "void rankbox::rank_main(Comm& dist)";

/// The exit status of a backend's program that exceeds its time limit, as for timeout(1).
inline constexpr int kTimeoutStatus = 124;

/// The options of a run, passed to the process that runs it.
struct ProgramOptions {
  std::string name;   // of the program, in reports
  std::string again;  // the command that runs it again in the sandbox
  int ranks = 4;
  int nodes = 0;  // 0: as many as the cluster fills
  std::string cluster;
  std::string buffering = "rendezvous";
  std::string order = "any";  // in the form of parse_order()
  std::string executor = "auto";
  bool without_data = false;     // --virtual
  bool notes = false;            // also what is most often as it should be
  double seconds = 60;           // time limit
  double deadline_seconds = 30;  // time limit for a rank's wait, where deadlocks are not proved
  std::string result;            // of a backend's program: a file for its verdict and figures
  bool prints_figures = false;   // a backend's program does
  PictureStyle picture;
};

std::string to_text(const ProgramOptions& options);
ProgramOptions program_from_text(const std::string& text);

/// Returns the options for run_ranks. Throws InvalidArgument for invalid values.
RunOptions run_options_of(const ProgramOptions& options);

/// Returns the figures of a run as JSON: ranks, virtual_us, wall_seconds, cost, messages, bytes,
/// peak_bytes (the most bytes of tensors that a rank held) and notes (what may fail elsewhere).
/// Unknown values are null: without a trace, virtual time and cost are.
std::string figures_of(const ProgramOptions& options, const RunReport& report);

/// Returns the notes of such figures; none for an empty text.
std::vector<std::string> notes_in(const std::string& figures);

/// Returns a run as one JSON object: file, status, failure (if there is one), the figures, output.
/// @param figures of figures_of; empty: the run ended earlier
std::string report_json(const Verdict& verdict, const ProgramOptions& options,
                        const std::string& figures, const std::string& output);

/// Returns a failure in one line: "crash: rank 1, free.cc:7: …".
std::string in_one_line(const Failure& failure);

}  // namespace rankbox::cli
