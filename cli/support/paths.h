// Paths of the project, and exercises by name.
#pragma once

#include <string>
#include <vector>

#include "exercises/registry.h"

namespace rankbox::cli {

/// Returns the root of the project: $RANKBOX_ROOT, or else the closest parent folder that looks
/// like it. Throws Error if there is none.
const std::string& project_root();

/// Makes the commands use the exercises of another folder, laid out as the project is:
/// registry.toml, contracts/, exercises/NN_topic/, solutions/NN_topic/, mutants/ and variants/. An
/// empty path selects the project itself. Child processes inherit the choice. Throws
/// InvalidArgument if there is no registry.toml.
void use_course(const std::string& folder);

/// Returns the folder of the commands' exercises: that course's, or the project's root.
const std::string& course_root();

/// Returns the registry of the project itself, whatever the course.
Registry project_registry();

/// Returns the absolute form of a registry's path, which is absolute or relative to the project's
/// root.
std::string absolute_path(const std::string& path);

/// Returns the content of the file at such a path. Throws Error if it cannot be read.
std::string text_of(const std::string& path);

/// Returns the folder of progress and saved files: .rankbox in course_root().
std::string state_folder();

/// Returns the exercise that `text` names: its name, or the path of its file in exercises/ or
/// solutions/. Throws InvalidArgument with the nearest names.
const Exercise& exercise_named(const std::string& text);

/// Returns the names that `text` may misspell, nearest first.
std::vector<std::string> nearest_names(const std::string& text);

/// Throws InvalidArgument unless this is a readable file.
void require_readable(const std::string& file);

/// Returns the path as a user would write it: relative to the root if it is inside, else unchanged.
std::string display_path(const std::string& path);

}  // namespace rankbox::cli
