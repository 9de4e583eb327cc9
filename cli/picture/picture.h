// Runs a learner's function once and draws the run: the part of `show` in a separate process.
#pragma once

#include <cstdint>
#include <string>

#include "cli/picture/run_picture.h"
#include "verdict/catalog.h"
#include "verdict/verdict.h"

namespace rankbox::cli {

struct PictureOptions {
  PictureStyle style;
  int ranks = 4;
  std::int64_t count = 0;
  int root = 0;
  int segments = 0;  // or micro-batches; 0: as many as ranks
  std::string op = "SUM";
  std::string cluster;                   // as cluster_named() takes it
  std::string buffering = "rendezvous";  // as parse_buffering() takes it
};

/// Serializes the options for that process.
std::string to_text(const PictureOptions& options);
PictureOptions picture_from_text(const std::string& text);

/// The verdict is about this one run: it passes unless the run failed, or gave wrong values (where
/// the case is small enough to check). A failed run is drawn up to the failure.
Verdict draw_picture(const Exercise& exercise, AnyFunction function, const PictureOptions& options);

}  // namespace rankbox::cli
