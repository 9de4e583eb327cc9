// Files that a program left which is not trusted.
//
// The folder may hold anything under the expected name: a link to a file of the user's, a pipe that
// blocks its reader, a device without end.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace rankbox {

/// Returns the contents of a regular file; nothing for a link, a pipe, a device, a file of more
/// than `most_bytes`, or none. Never blocks on what another process does.
std::optional<std::string> read_foreign_file(const std::string& path, std::size_t most_bytes);

}  // namespace rankbox
