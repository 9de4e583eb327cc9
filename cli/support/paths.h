// Paths of the project, and exercises by name.
#pragma once

#include <string>
#include <vector>

#include "exercises/registry.h"

namespace rankbox::cli {

/// The root of the project: $RANKBOX_ROOT, or else the closest folder upwards that looks like it.
/// Throws Error if there is none.
const std::string& project_root();

/// Makes the commands work on the exercises of another folder, laid out as the project is:
/// registry.toml, contracts/, exercises/NN_topic/, solutions/NN_topic/, mutants/ and variants/.
/// An empty path selects the project's own. Processes that are started later inherit the choice.
/// Throws InvalidArgument if there is no registry.toml.
void use_course(const std::string& folder);

/// The folder of the exercises that the commands work on: that course's, or the project's root.
const std::string& course_root();

/// The registry of the project itself, whatever the course.
Registry project_registry();

/// The absolute form of a registry's path, which is absolute or relative to the project's root.
std::string absolute_path(const std::string& path);

/// The content of the file at such a path. Throws Error if it cannot be read.
std::string text_of(const std::string& path);

/// Where progress and saved files are kept: .rankbox in course_root().
std::string state_folder();

/// The exercise that `text` means: its name, or the path of its file in exercises/ or solutions/.
/// Throws InvalidArgument with the nearest names.
const Exercise& exercise_named(const std::string& text);

/// The names that `text` may misspell, nearest first.
std::vector<std::string> nearest_names(const std::string& text);

/// Throws InvalidArgument unless this is a file that can be read.
void require_readable(const std::string& file);

/// As the user would write it: relative to the root if it is inside, else as it is.
std::string display_path(const std::string& path);

}  // namespace rankbox::cli
