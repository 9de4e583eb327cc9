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
};

}  // namespace rankbox::cli
