// Files that the user asked for: there whole, or not at all.
#pragma once

#include <string>

namespace rankbox {

/// Throws InvalidArgument, which names the option, unless a file can be made at `path`: before
/// minutes are spent on what is to be written there.
void check_writable(const char* option, const std::string& path);

/// Writes beside the place where the text is to be, and moves it there. Throws Error.
void write_file(const std::string& path, const std::string& text);

/// The same with the contents of another file.
void copy_file_to(const std::string& from, const std::string& path);

}  // namespace rankbox
