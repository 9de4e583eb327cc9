// The grading of one file, as it is kept.
#pragma once

#include <string>

#include "judge/verdict.h"

namespace rankbox::cli {

/// All texts are visible (judge/visible_text.h), and files have no folder: the same for all
/// students who handed in the same bytes. The replay line says "--file FILE" (grade_file.h).
struct GradeResult {
  Verdict verdict;      // status kError: an error of ours; such a result is not kept
  double seconds = 0;   // that grading took, compilation included
  std::string printed;  // by the program; its beginning
  std::string compiler_output;
  bool drawn = false;   // a picture was asked for, or there is no run to draw
  std::string picture;  // empty: none was asked for, or none can be drawn
  std::string waits;    // of a deadlock that is drawn: checked_waits(); or empty
};

/// Stands for the file in a kept replay line.
inline constexpr const char* kFilePlaceholder = " --file FILE";

/// Returns the verdict with a replay line that names this file; an empty path: the student's own
/// file in exercises/.
Verdict with_replay(Verdict verdict, const std::string& path);

/// Replaces every `what` in the text.
void replace_all(std::string& text, const std::string& what, const std::string& with);

}  // namespace rankbox::cli
