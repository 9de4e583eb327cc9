// Replay lines of kept verdicts, which are the same for every student until they are shown.
#pragma once

#include <string>

#include "judge/verdict.h"

namespace rankbox::cli {

/// Stands for the file in a kept replay line.
inline constexpr const char* kFilePlaceholder = " --file FILE";

/// Returns the verdict with a replay line that names this file; an empty path: the student's own
/// file in exercises/.
Verdict with_replay(Verdict verdict, const std::string& path);

/// Replaces every `what` in the text.
void replace_all(std::string& text, const std::string& what, const std::string& with);

}  // namespace rankbox::cli
