// The metadata of Gradescope's export of submissions: names, e-mail addresses, times.
#pragma once

#include <string>
#include <vector>

#include "cli/grade/submissions.h"

namespace rankbox::cli {

/// Fills in what submission_metadata.yml in `folder` says about the students, whose ids are the
/// names of the export's folders. This reads no YAML in general: only the lines that the export
/// writes for a folder, a submitter's name, e-mail and number, and the time. Other lines, and
/// values that are not on one line, are skipped. Without the file nothing changes.
void add_gradescope_metadata(std::vector<Student>& students, const std::string& folder);

}  // namespace rankbox::cli
