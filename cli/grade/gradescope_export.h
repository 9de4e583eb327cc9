// The metadata of Gradescope's export of submissions: names, e-mail addresses, times.
#pragma once

#include <string>
#include <vector>

#include "cli/grade/submissions.h"

namespace rankbox::cli {

/// Fills in what submission_metadata.yml in `folder` says about the students, whose ids are the
/// names of the export's folders: submitters' names, e-mail addresses and numbers, and the time.
/// Without the file nothing changes. Throws InvalidArgument, with the line, for what is no YAML.
void add_gradescope_metadata(std::vector<Student>& students, const std::string& folder);

}  // namespace rankbox::cli
