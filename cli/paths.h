// Where things are, and what the user means by a name.
#pragma once

#include <string>
#include <vector>

#include "verdict/catalog.h"

namespace rankbox::cli {

/// The root of the project: $RANKBOX_ROOT, or else the closest folder upwards that looks like it.
/// Throws Error if there is none.
const std::string& project_root();

/// The exercise that `text` means: its name, or the path of its file in exercises/ or solutions/.
/// Throws InvalidArgument with the nearest names.
const Exercise& exercise_named(const std::string& text);

/// Those that `text` is likely to be a misspelling of, nearest first.
std::vector<std::string> nearest_names(const std::string& text);

/// As the user would write it: relative to the root if it is inside, else as it is.
std::string display_path(const std::string& path);

}  // namespace rankbox::cli
