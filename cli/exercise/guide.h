// A chapter's hints on its exercises: exercises/NN_topic/guide.toml.
//
//   [broadcast_ring]
//   hints = ["a nudge", "the idea", "nearly the answer"]
//   next = "what to try after it passes"
#pragma once

#include <string>
#include <vector>

#include "judge/catalog.h"

namespace rankbox::cli {

struct Guide {
  std::vector<std::string> hints;  // from a nudge to nearly the answer
  std::string next;
};

/// Throws Error with the file, and the line if known, if the guide cannot be read or has no entry
/// for the exercise.
Guide guide_of(const Exercise& exercise);

}  // namespace rankbox::cli
