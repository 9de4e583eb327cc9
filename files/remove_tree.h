// Removal of folders that a learner's program has written to.
//
// std::filesystem::remove_all fails for folders that are nested more deeply than a path or the
// number of open files allows, and for those whose mode forbids reading.
#pragma once

#include <filesystem>

namespace rankbox {

/// Removes a folder with its contents, or a file. Removes links without following them. Opens a few
/// descriptors at a time, however deeply folders are nested. Ignores errors.
/// REQUIRES: no other process changes the folder meanwhile.
void remove_tree(const std::filesystem::path& path);

}  // namespace rankbox
