// Files that the user asked for: there whole, or not at all.
//
// A file is written beside its place, flushed and moved there, so a reader sees the old one or the
// new one, and so does who looks after a power cut. A symbolic link stays, and its target is
// replaced. What is no regular file (a device, a pipe, a folder) is refused: moving a file there
// would replace a device.
#pragma once

#include <string>

namespace rankbox {

/// Throws InvalidArgument, which names the option, unless a file can be made at `path`: before
/// minutes are spent on what is to be written there.
void check_writable(const char* option, const std::string& path);

/// Writes the text. Blocks until it is on the disk. Throws Error with the path and the reason.
void write_file(const std::string& path, const std::string& text);

/// The same with the contents of another file.
void copy_file_to(const std::string& from, const std::string& path);

}  // namespace rankbox
