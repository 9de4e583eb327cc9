// Removal of folders that a learner's program has written to.
//
// std::filesystem::remove_all leaves folders behind that are nested too deeply for a path or for
// the number of open files, and those whose mode forbids it.
#pragma once

#include <filesystem>

namespace rankbox {

/// Removes a folder with all that it holds, or a file. Links are removed, never followed. Keeps a
/// few descriptors open, however deeply folders are nested. Ignores what cannot be removed.
/// REQUIRES: no other process changes the folder meanwhile.
void remove_tree(const std::filesystem::path& path);

}  // namespace rankbox
