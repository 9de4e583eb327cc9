// Runs a learner's function once and draws it: `show` in a separate process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/picture/run_picture.h"
#include "judge/catalog.h"
#include "judge/verdict.h"

namespace rankbox::cli {

struct PictureOptions {
  PictureStyle style;
  int ranks = 4;
  std::int64_t count = 0;
  int root = 0;
  int segments = 0;  // or micro-batches; 0: as many as ranks
  std::string op = "SUM";
  std::string cluster;                   // in the form of cluster_named()
  std::string buffering = "rendezvous";  // in the form of parse_buffering()
  std::string order = "any";             // in the form of parse_order()
  std::string replay;  // a case, as a failure names it, in place of ranks to op; empty: none
};

/// Returns what to draw after a verdict: the failing case, or a typical one of what passes. None
/// where there is no run to draw: the program was not compiled, is the stub, sends no messages, or
/// ran until the time was up. The caller sets the style.
std::optional<PictureOptions> picture_after(const Exercise& exercise, const Verdict& verdict);

/// Serializes the options for that process.
std::string to_text(const PictureOptions& options);
PictureOptions picture_from_text(const std::string& text);

/// The verdict covers only this run: it passes unless the run failed or gave wrong values. Values
/// are checked where the case is small enough. A failed run is drawn up to the failure.
Verdict draw_picture(const Exercise& exercise, AnyFunction function, const PictureOptions& options);

}  // namespace rankbox::cli
