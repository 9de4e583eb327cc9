// `rankbox race FILE`: how the learner's own file loses an update, step by step.
#pragma once

#include <cstdint>
#include <string>

namespace rankbox::cli {

struct OwnFileOptions {
  std::string file;
  std::string replay;  // "2x1:0.1x2.2x4"; empty: looks for a schedule that goes wrong
  bool step = false;   // waits for Enter before each line
};

/// Compiles the file, looks for a schedule that goes wrong and prints it. Returns the exit status:
/// 0 if every schedule that was tried is right, otherwise 1. Throws InvalidArgument.
int show_own_file(const OwnFileOptions& options);

}  // namespace rankbox::cli
